// SPDX-License-Identifier: Apache-2.0
// Random expert choices of tokens, for runs that do not compute them.
#pragma once

#include <cstdint>

#include "kernbench/kernel_api/host_tensor.h"

namespace kernbench::kernels {

/// i32 [tokens, k]: k different experts for each token, uniformly distributed, from the random stream
/// (phase2/io/random.h). If k exceeds `experts`, the surplus entries are -1.
HostTensor drawn_choices(int64_t tokens, int64_t k, int64_t experts, uint64_t stream);

}  // namespace kernbench::kernels
