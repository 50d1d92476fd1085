// What a writer of Protocol Buffers needs of their encoding (protobuf.dev/programming-guides/encoding): a message is
// its fields one after the other, each a tag (number and wire type) and a value. Appends to a string.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kernbench::protobuf {

enum class WireType : uint32_t { varint = 0, fixed64 = 1, length_delimited = 2 };

inline void append_varint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}

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
  for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(v >> 8 * byte);
}

inline void append_double(std::string& out, uint32_t field, double v) {
  uint64_t bits;
  static_assert(sizeof bits == sizeof v);
  std::memcpy(&bits, &v, sizeof bits);
  append_fixed64(out, field, bits);
}

/// string, bytes, or a message.
inline void append_bytes(std::string& out, uint32_t field, std::string_view v) {
  append_tag(out, field, WireType::length_delimited);
  append_varint(out, v.size());
  out += v;
}

}  // namespace kernbench::protobuf
