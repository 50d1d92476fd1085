// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/io/npy.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/memory/bulk_bytes.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::phase2 {
namespace {

constexpr char kNpyMagic[] = "\x93NUMPY";
constexpr uint64_t kMaxHeader = 1 << 20;

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw NpyError(file + ": " + what);
}

struct Header {
  DType dtype = DType::f32;
  bool fortran = false;
  Dims shape;
};

/// The header is a Python dictionary as text, with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  Header parse() {
    std::optional<DType> dtype;
    std::optional<bool> fortran;
    std::optional<Dims> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        dtype = descr();
      } else if (key == "fortran_order") {
        fortran = boolean();
      } else if (key == "shape") {
        shape = tuple();
      } else {
        bad("key " + in_quotes(key) + ", expected descr, fortran_order or shape");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!dtype || !fortran || !shape) bad("lacks descr, fortran_order or shape");
    return {*dtype, *fortran, *shape};
  }

 private:
  [[noreturn]] void bad(const std::string& what) const { fail(file_, "header of the .npy file: " + what); }
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad("found " + in_quotes(rest()) + ", expected '" + c + "'");
  }
  std::string string() {
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    if (quote != '\'' && quote != '"') bad("found " + in_quotes(rest()) + ", expected a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) bad("a string is not terminated");
    std::string s = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return s;
  }
  DType descr() {
    blanks();
    if (at_ < text_.size() && text_[at_] == '[')
      bad("holds a structured dtype, expected one of f4, f2, i1, u1, i2, u2, i4, u4, i8");
    const std::string s = string();
    const std::string kind = s.size() == 3 ? s.substr(1) : "";
    const char order = s.empty() ? 0 : s[0];
    static const std::map<std::string, DType> kWide = {{"f4", DType::f32}, {"f2", DType::f16}, {"i2", DType::i16},
                                                       {"i4", DType::i32}, {"u2", DType::u16}, {"u4", DType::u32},
                                                       {"i8", DType::i64}};
    if (const auto it = kWide.find(kind); it != kWide.end()) {
      if (order == '>') bad("dtype " + in_quotes(s) + " is big endian, expected little endian");
      if (order == '<' || order == '=') return it->second;
    }
    if (order == '|' || order == '<' || order == '=' || order == '>') {
      if (kind == "i1") return DType::i8;
      if (kind == "u1" || kind == "b1") return DType::u8;
    }
    bad("dtype " + in_quotes(s) + " is not supported, expected one of f4, f2, i1, u1, i2, u2, i4, u4, i8");
  }
  bool boolean() {
    blanks();
    for (const auto& [word, value] : {std::pair<const char*, bool>{"True", true}, {"False", false}}) {
      if (text_.compare(at_, std::strlen(word), word) == 0) {
        at_ += std::strlen(word);
        return value;
      }
    }
    bad("fortran_order is neither True nor False");
  }
  Dims tuple() {
    Dims dims;
    expect('(');
    while (!accept(')')) {
      blanks();
      uint64_t v = 0;
      const std::string_view rest = this->rest();
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), v);
      if (error == std::errc::invalid_argument) bad("shape holds " + in_quotes(rest) + ", expected a number");
      if (error != std::errc() || v > uint64_t{1} << 48) bad("shape has an absurd dimension");
      at_ += static_cast<size_t>(end - rest.data());
      if (dims.rank() == kMaxRank) bad(fmt::format("shape has more than {} dimensions", kMaxRank));
      dims.push_back(static_cast<int64_t>(v));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  const std::string& file_;
  const std::string& text_;
  size_t at_ = 0;
};

uint64_t little_endian(const uint8_t* p, int n) {
  uint64_t v = 0;
  for (int i = n - 1; i >= 0; --i) v = v << 8 | p[i];
  return v;
}

Bytes to_row_major(const Bytes& in, const Dims& shape, size_t item) {
  Bytes out(in.size());
  std::array<int64_t, kMaxRank> at{};
  const int64_t n = shape.elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t from = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) from = from * shape[d] + at[static_cast<size_t>(d)];
    std::memcpy(&out[static_cast<size_t>(i) * item], &in[static_cast<size_t>(from) * item], item);
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (++at[static_cast<size_t>(d)] < shape[d]) break;
      at[static_cast<size_t>(d)] = 0;
    }
  }
  return out;
}

std::string descr_of(DType t) {
  switch (t) {
    case DType::f16:
      return "<f2";
    case DType::i8:
      return "|i1";
    case DType::u8:
      return "|u1";
    case DType::i16:
      return "<i2";
    case DType::i32:
      return "<i4";
    case DType::u16:
      return "<u2";
    case DType::u32:
      return "<u4";
    case DType::i64:
      return "<i8";
    default:
      return "<f4";
  }
}

/// The number of elements, computed like all users of the shape do.
uint64_t count_of(const Dims& shape, const std::string& file) {
  constexpr int64_t kMost = int64_t{1} << 48;
  try {
    if (const int64_t n = shape.elements(); n <= kMost) return static_cast<uint64_t>(n);
  } catch (const std::overflow_error&) {
  }
  fail(file, "shape " + shape.to_string() + " is absurd");
}

}  // namespace

NpyArray read_npy(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(file, std::string("cannot be opened: ") + std::strerror(errno));
  in.seekg(0, std::ios::end);
  const std::streamoff end = in.tellg();
  if (!in || end < 0) fail(file, "is not a regular file");
  in.seekg(0);
  const auto file_size = static_cast<uint64_t>(end);
  uint8_t lead[12] = {};
  in.read(reinterpret_cast<char*>(lead), 10);
  if (in.gcount() < 10 || std::memcmp(lead, kNpyMagic, 6) != 0)
    fail(file, "is no .npy file (it does not begin with \\x93NUMPY)");
  const int major = lead[6];
  if (major < 1 || major > 3) fail(file, fmt::format(".npy version {}, expected 1, 2 or 3", major));
  uint64_t start = 10;
  uint64_t header_size = little_endian(lead + 8, 2);
  if (major > 1) {
    in.read(reinterpret_cast<char*>(lead + 10), 2);
    header_size = little_endian(lead + 8, 4);
    start = 12;
  }
  if (header_size > kMaxHeader || start + header_size > file_size) {
    fail(file, fmt::format("is truncated: a header of {} bytes in a file of {} bytes", header_size, file_size));
  }
  std::string text(header_size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(header_size));
  const Header h = HeaderParser(file, text).parse();

  const uint64_t expected = count_of(h.shape, file) * size_of(h.dtype);
  const uint64_t found = file_size - start - header_size;
  if (found != expected) {
    fail(file, fmt::format("holds {} bytes of data, expected {} for {} {}", found, expected, name_of(h.dtype),
                           h.shape.to_string()));
  }
  NpyArray t{h.dtype, h.shape, bulk_bytes(expected)};
  in.read(reinterpret_cast<char*>(t.bytes.data()), static_cast<std::streamsize>(expected));
  if (static_cast<uint64_t>(in.gcount()) != expected) fail(file, "cannot be read to its end");
  if (h.fortran && h.shape.rank() > 1) t.bytes = to_row_major(t.bytes, h.shape, size_of(h.dtype));
  return t;
}

NpyArray read_npy_as(const std::string& file, DType dtype) {
  NpyArray t = read_npy(file);
  if (t.dtype == dtype) return t;
  if (is_packed(dtype)) {
    const int last = t.shape.rank() - 1;
    if (t.dtype != unpacked(dtype) || last < 0 || t.shape[last] % 2 != 0)
      fail(file, fmt::format("holds {} {}, expected {} of which two fit an element of {}", name_of(t.dtype),
                             t.shape.to_string(), name_of(unpacked(dtype)), name_of(dtype)));
    NpyArray packed{dtype, t.shape, {}};
    packed.shape[last] /= 2;
    packed.bytes.resize(static_cast<size_t>(packed.shape.elements()));
    pack(t.bytes.data(), dtype, packed.bytes.data(), packed.bytes.size());
    return packed;
  }
  if (t.dtype != DType::f32 || !is_float(dtype)) {
    fail(file, "holds " + std::string(name_of(t.dtype)) + ", expected " + std::string(name_of(dtype)) +
                   (dtype == DType::bf16 || is_float(dtype) ? " or f32" : ""));
  }
  NpyArray r{dtype, t.shape, Bytes(static_cast<size_t>(t.shape.elements()) * size_of(dtype))};
  convert(t.bytes.data(), DType::f32, r.bytes.data(), dtype, static_cast<size_t>(t.shape.elements()));
  return r;
}

NpyArray read_npy_tensor(const std::string& file, const std::string& tensor, DType dtype, const Dims& shape) {
  NpyArray t = read_npy_as(file, dtype);
  if (t.shape != shape)
    fail(file, "shape " + t.shape.to_string() + ", but tensor " + tensor + " has " + shape.to_string());
  return t;
}

void write_npy(const std::string& file, DType dtype, const Dims& shape, const void* bytes) {
  if (is_packed(dtype) && shape.rank() > 0) {
    Bytes values(static_cast<size_t>(shape.elements()) * 2 * size_of(unpacked(dtype)));
    unpack(bytes, dtype, values.data(), static_cast<size_t>(shape.elements()));
    Dims wide = shape;
    wide[shape.rank() - 1] *= 2;
    return write_npy(file, unpacked(dtype), wide, values.data());
  }
  const auto n = static_cast<size_t>(shape.elements());
  Bytes widened;
  const void* data = bytes;
  size_t item = size_of(dtype);
  if (dtype == DType::bf16 || dtype == DType::f8e4m3 || dtype == DType::f8e5m2) {
    item = size_of(DType::f32);
    widened.resize(n * item);
    convert(bytes, dtype, widened.data(), DType::f32, n);
    data = widened.data();
  }
  std::vector<std::string> extents;
  for (const int64_t extent : shape) extents.push_back(std::to_string(extent));
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr_of(dtype),
                                   joined(extents), shape.rank() == 1 ? "," : "");
  // The data begins at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string lead(kNpyMagic, 6);
  lead += '\x01';
  lead += '\0';
  lead += static_cast<char>(header.size() & 0xff);
  lead += static_cast<char>(header.size() >> 8);
  WholeFile out(file);
  out.write(lead + header);
  out.write({static_cast<const char*>(data), n * item});
  out.keep();
}

void write_npy(const std::string& file, const NpyArray& t) {
  if (t.bytes.size() != static_cast<size_t>(t.shape.elements()) * size_of(t.dtype)) {
    fail(file, fmt::format("tensor of shape {} and {} bytes", t.shape.to_string(), t.bytes.size()));
  }
  write_npy(file, t.dtype, t.shape, t.bytes.data());
}

}  // namespace kernbench::phase2
