// SPDX-License-Identifier: Apache-2.0
// The parts of Protocol Buffers' encoding that a writer needs (protobuf.dev/programming-guides/encoding). A message is
// a sequence of fields; each has a tag (number and wire type) and a value. All functions append to a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernbench/phase2/text/varint.h"

namespace kernbench::protobuf {

enum class WireType : uint32_t { varint = 0, fixed64 = 1, length_delimited = 2 };

inline void append_tag(std::string& out, uint32_t field, WireType type) {
  append_varint(out, field << 3 | static_cast<uint32_t>(type));
}

/// uint32, uint64, enum, bool; nonnegative int32 and int64.
inline void append_uint(std::string& out, uint32_t field, uint64_t v) {
  append_tag(out, field, WireType::varint);
  append_varint(out, v);
}

inline void append_fixed64(std::string& out, uint32_t field, uint64_t v) {
  append_tag(out, field, WireType::fixed64);
  kernbench::append_fixed64(out, v);
}

inline void append_double(std::string& out, uint32_t field, double v) {
  append_tag(out, field, WireType::fixed64);
  kernbench::append_double(out, v);
}

/// A string, bytes, or a message.
inline void append_bytes(std::string& out, uint32_t field, std::string_view v) {
  append_tag(out, field, WireType::length_delimited);
  append_varint(out, v.size());
  out += v;
}

}  // namespace kernbench::protobuf
