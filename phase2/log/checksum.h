// SPDX-License-Identifier: Apache-2.0
// A 64-bit checksum that detects accidental damage in logs, not forgery. It is FNV-1a for bytes, and one round for a
// number.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

class Checksum {
 public:
  /// Adds bytes. The result is the same for one call and for several parts.
  Checksum& add(std::string_view bytes) {
    for (char c : bytes) value_ = (value_ ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
    return *this;
  }
  Checksum& add(uint64_t v) {
    value_ = (value_ ^ v) * 0x9e3779b97f4a7c15ull;
    value_ ^= value_ >> 29;
    return *this;
  }
  Checksum& add(double v) {
    uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    return add(bits);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325ull;
};

/// 16 hexadecimal digits.
inline std::string hex_of(uint64_t v) {
  return fmt::format("{:016x}", v);
}

}  // namespace kernbench::phase2
