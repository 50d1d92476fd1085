// What kernels are given as addresses of their tensors.
#pragma once

#include <cstdint>

namespace kernbench {

enum class AddressMode : uint8_t { physical, virtual_ };
const char* name_of(AddressMode);

}  // namespace kernbench
