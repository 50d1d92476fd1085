// SPDX-License-Identifier: Apache-2.0
// Addresses in messages.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// "0x1f00".
inline std::string address_text(uint64_t v) {
  return fmt::format("{:#x}", v);
}

/// "[0x1f00, 0x2000)".
inline std::string range_text(uint64_t address, uint64_t nbytes) {
  return fmt::format("[{:#x}, {:#x})", address, address + nbytes);
}

}  // namespace kernbench::phase2
