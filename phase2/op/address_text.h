// Addresses in messages.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace kernbench {

/// "0x1f00".
inline std::string address_text(uint64_t v) {
  return fmt::format("{:#x}", v);
}

}  // namespace kernbench
