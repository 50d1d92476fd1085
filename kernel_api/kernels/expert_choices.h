// SPDX-License-Identifier: Apache-2.0
// Experts that tokens choose, where nobody computes them.
#pragma once

#include <cstdint>

#include "kernbench/kernel_api/host_tensor.h"

namespace kernbench::kernels {

/// i32 [tokens, k]: of each token k experts out of so many, each at most once, all as likely, by random numbers of the
/// stream (phase2/io/random.h). k above `experts`: -1 for those beyond.
HostTensor drawn_choices(int64_t tokens, int64_t k, int64_t experts, uint64_t stream);

}  // namespace kernbench::kernels
