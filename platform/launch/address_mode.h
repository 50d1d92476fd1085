// SPDX-License-Identifier: Apache-2.0
// The kind of addresses that kernels get for their tensors.
#pragma once

#include <cstdint>

#include "kernbench/phase2/rooms.h"

namespace kernbench::launch {

enum class AddressMode : uint8_t { physical, virtual_ };
const char* name_of(AddressMode);

}  // namespace kernbench::launch
