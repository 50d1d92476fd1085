// SPDX-License-Identifier: Apache-2.0
// Numbers as bytes, in the encoding of Protocol Buffers and of the reports' pages.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Seven bits per byte, lowest first.
inline void append_varint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}

/// Little-endian.
inline void append_fixed64(std::string& out, uint64_t v) {
  for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(v >> 8 * byte);
}
inline void append_double(std::string& out, double v) {
  uint64_t bits;
  static_assert(sizeof bits == sizeof v);
  std::memcpy(&bits, &v, sizeof bits);
  append_fixed64(out, bits);
}

}  // namespace kernbench::phase2
