// SPDX-License-Identifier: Apache-2.0
// What a writer of Protocol Buffers needs of their encoding (protobuf.dev/programming-guides/encoding): a message is
// its fields one after the other, each a tag (number and wire type) and a value. Appends to a string.
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

/// uint32, uint64, enum, bool; int32 and int64 that are not negative.
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

/// string, bytes, or a message.
inline void append_bytes(std::string& out, uint32_t field, std::string_view v) {
  append_tag(out, field, WireType::length_delimited);
  append_varint(out, v.size());
  out += v;
}

}  // namespace kernbench::protobuf
