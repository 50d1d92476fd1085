// Addresses in messages.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace kernbench {

/// "0x1f00".
inline std::string address_text(uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

}  // namespace kernbench
