// SPDX-License-Identifier: Apache-2.0
// Types, attributes and constants.
#include "kernbench/platform/triton/parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernbench::triton {

namespace {

const std::map<std::string, Element>& elements() {
  static const std::map<std::string, Element> all = {
      {"i1", Element::i1},   {"i8", Element::i8},       {"i16", Element::i16},         {"i32", Element::i32},
      {"i64", Element::i64}, {"index", Element::index}, {"bf16", Element::bf16},       {"f16", Element::f16},
      {"f32", Element::f32}, {"f64", Element::f64},     {"f8E4M3FN", Element::f8e4m3}, {"f8E5M2", Element::f8e5m2}};
  return all;
}

}  // namespace

Told Parser::told(const Operation* of) {
  Told t;
  std::vector<Type>* list = &t.before;
  const bool short_forms = of && of->info->typing == Typing::tile;
  for (;;) {
    if (s_.take("(")) {
      while (!s_.take(")")) {
        if (s_.take(",")) continue;
        list->push_back(type());
      }
    } else if (short_forms && s_.peek() == '<') {
      list->push_back(short_type(*of, list->size()));
    } else {
      list->push_back(type());
    }
    if (s_.take("->") || s_.take_word("to")) {
      if (t.arrow) s_.expected("the end of the types");
      t.arrow = true;
      list = &t.after;
    } else if (!s_.take(",") && !s_.take("*")) {
      return t;
    }
  }
}

Type Parser::short_type(const Operation& op, size_t number) {
  const bool descriptor = op.info->does == Does::make_descriptor && number > 0;
  return descriptor ? descriptor_type() : pointer_type();
}

Type Parser::pointer_type() {
  s_.require("<");
  Type t = type();
  if (s_.take(",")) {
    if (!s_.at_number()) s_.expected("an address space");
    s_.number();
  }
  s_.require(">");
  if (!t.known()) return t;
  if (t.kind != Type::Kind::number) {
    refuse("a pointer to " + t.to_string());
    return {};
  }
  t.kind = t.tensor ? Type::Kind::block_pointer : Type::Kind::pointer;
  return t;
}

Type Parser::descriptor_type() {
  s_.require("<");
  in_descriptor_ = true;
  Type t = s_.peek() >= '0' && s_.peek() <= '9' ? shaped() : type();
  in_descriptor_ = false;
  if (s_.take(",")) refuse_rest("an encoding");
  s_.require(">");
  if (!t.known()) return t;
  if (!t.is(Type::Kind::number, true)) {
    refuse("a descriptor of " + t.to_string());
    return {};
  }
  t.kind = Type::Kind::descriptor;
  return t;
}

void Parser::refuse_rest(const std::string& what) {
  refuse(what);
  while (s_.peek() != '>') {
    const char c = s_.peek();
    if (c == '\0') s_.expected("'>'");
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      s_.skip_brackets();
    } else {
      s_.step();
    }
  }
}

Type Parser::shaped() {
  Type t;
  Shape shape;
  int64_t elements_in = 1;
  s_.skip();
  while (s_.at_digit()) {
    const int64_t d = s_.digits();
    if (!s_.here('x')) s_.expected("'x'");
    s_.step();
    if (d < 1 || d > kLargest / elements_in)
      s_.fail("found a tensor of no or more than " + std::to_string(kLargest) + " elements");
    elements_in *= d;
    if (shape.rank() == Shape::kMostDims)
      s_.fail("found more than " + std::to_string(Shape::kMostDims) + " dimensions");
    shape.push_back(d);
  }
  t = type();
  if (!t.known()) return t;
  if (t.tensor || t.kind > Type::Kind::pointer) {
    refuse("a tensor of " + t.to_string());
    return {};
  }
  t.tensor = true;
  t.shape = shape;
  return t;
}

Type Parser::type() {
  const Depth depth(*this);
  if (s_.take("!")) {
    const std::string name = s_.word();
    if (name == "tt.ptr") return pointer_type();
    if (name == "tt.tensordesc") return descriptor_type();
    if (s_.here('<')) s_.skip_brackets();
    refuse("type !" + name);
    return {};
  }
  if (s_.peek() == '(') {  // a function type
    s_.skip_brackets();
    s_.require("->");
    if (s_.peek() == '(') {
      s_.skip_brackets();
    } else {
      type();
    }
    return {};
  }
  const std::string name = s_.word(false);
  if (name == "tensor") {
    s_.require("<");
    s_.skip();
    if (s_.here('?') || s_.here('*')) {
      refuse_rest("a tensor of open shape");
      s_.require(">");
      return {};
    }
    Type t = shaped();
    if (s_.take(",")) {
      refuse_rest("an encoding");
      t = {};
    }
    s_.require(">");
    return t;
  }
  // A descriptor's integers have a sign (si8, ui8); loaded values do not.
  const bool sign = in_descriptor_ && name.size() > 2 && (name[0] == 's' || name[0] == 'u') && name[1] == 'i';
  const auto it = elements().find(sign ? name.substr(1) : name);
  if (it != elements().end()) return {Type::Kind::number, it->second};
  if (s_.here('<')) s_.skip_brackets();
  refuse("type " + name);
  return {};
}

std::map<std::string, Attribute> Parser::dictionary() {
  const Depth depth(*this);
  std::map<std::string, Attribute> all;
  s_.require("{");
  while (!s_.take("}")) {
    if (!all.empty()) s_.require(",");
    const std::string key = s_.peek() == '"' ? s_.string() : s_.word();
    Attribute a;
    if (s_.take("=")) a = attribute();
    if (!all.emplace(key, a).second) s_.fail("found a second '" + key + "'");
  }
  return all;
}

std::map<std::string, Attribute> Parser::properties() {
  auto all = dictionary();
  s_.require(">");
  return all;
}

Attribute Parser::attribute() {
  const Depth depth(*this);
  Attribute a;
  const char c = s_.peek();
  if (s_.at_number()) {
    const std::string written = s_.number();
    Type t;
    if (s_.take(":")) t = type();
    set_number(a, written, t);
  } else if (c == '"') {
    a.kind = Attribute::Kind::text;
    a.text = s_.string();
    if (s_.take(":")) type();
  } else if (c == '[') {
    s_.step();
    a.kind = Attribute::Kind::integers;
    while (!s_.take("]")) {
      const Attribute item = attribute();
      a.integers.push_back(item.integer);
      if (s_.peek() != ']') s_.require(",");
    }
  } else if (c == '{' || c == '(') {
    std::vector<Type> results;
    if (c == '{') {
      s_.skip_brackets();
    } else {
      s_.skip_brackets();
      s_.require("->");
      if (s_.peek() == '(') {
        results = type_list();
      } else {
        results = {type()};
      }
      a.kind = Attribute::Kind::text;
      a.text = "function type " + std::to_string(function_types_.size());
      function_types_[a.text] = results;
    }
  } else if (c == '@') {
    a.kind = Attribute::Kind::text;
    a.text = symbol();
  } else if (c == '#') {
    s_.step();
    a.kind = Attribute::Kind::text;
    a.text = s_.name();
    if (s_.here('<')) s_.skip_brackets();
  } else if (c == '!') {
    a.type = type();
  } else {
    const std::string word = s_.word();
    if (word == "dense") return dense();
    if (word == "true" || word == "false") {
      a.kind = Attribute::Kind::integer;
      a.integer = word == "true";
      if (s_.take(":")) type();
    } else if (word == "array") {
      array(a);
    } else if (word == "loc") {
      location();
    } else {
      a.kind = Attribute::Kind::text;
      a.text = word;
      if (s_.here('<')) s_.skip_brackets();
    }
  }
  return a;
}

void Parser::array(Attribute& a) {
  a.kind = Attribute::Kind::integers;
  s_.require("<");
  type();
  if (s_.take(":")) {
    do {
      const Attribute item = attribute();
      a.integers.push_back(item.integer);
    } while (s_.take(","));
  }
  s_.require(">");
}

double Parser::real_of(const std::string& written, Element e) {
  if (written.find("0x") != std::string::npos) {
    int64_t bits = 0;
    if (!parse_integer(written, &bits) || written[0] == '-') s_.fail("found " + written + ", expected bits of a float");
    if (e == Element::f64) {
      double d;
      std::memcpy(&d, &bits, sizeof d);
      return d;
    }
    if (static_cast<uint64_t>(bits) >> bits_of(e) != 0)
      s_.fail("found " + written + ", which has more bits than " + name_of(e));
    return real_of_bits(static_cast<uint32_t>(bits), e);
  }
  double d = 0;
  const char* end = written.data() + written.size();
  const auto [stop, error] = std::from_chars(written.data(), end, d);
  if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range))
    s_.fail("found " + written + ", expected a number");
  if (error == std::errc::result_out_of_range) s_.fail("found " + written + ", which no double holds");
  return d;
}

double Parser::real_of_bits(uint32_t bits, Element e) {
  int exponent_bits = 8, mantissa_bits = 23;
  if (e == Element::f16) exponent_bits = 5, mantissa_bits = 10;
  if (e == Element::bf16) mantissa_bits = 7;
  if (e == Element::f8e5m2) exponent_bits = 5, mantissa_bits = 2;
  if (e == Element::f8e4m3) exponent_bits = 4, mantissa_bits = 3;
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const double sign = (bits >> (mantissa_bits + exponent_bits)) & 1 ? -1 : 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t most = (1u << exponent_bits) - 1;
  if (e == Element::f8e4m3 && exponent == most && mantissa == 7) return std::nan("");
  if (e != Element::f8e4m3 && exponent == most)
    return mantissa ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
}

int64_t Parser::integer_of(const std::string& written, Element e) {
  int64_t n = 0;
  if (!parse_integer(written, &n)) s_.fail("found " + written + ", expected an integer of at most 64 bits");
  const int bits = bits_of(e);
  if (bits < 64 && (n < -(int64_t{1} << (bits - 1)) || n >= int64_t{1} << bits))
    s_.fail("found " + written + ", which is no " + name_of(e));
  return n;
}

void Parser::set_number(Attribute& a, const std::string& written, const Type& t) {
  a.type = t;
  const bool real = t.known() ? is_float(t.element)
                              : written.find('.') != std::string::npos && written.find("0x") == std::string::npos;
  if (t.known() && t.tensor) s_.fail("found a number for " + t.to_string() + ", expected dense<...>");
  if (real) {
    a.kind = Attribute::Kind::real;
    a.real = real_of(written, t.known() ? t.element : Element::f64);
  } else {
    a.kind = Attribute::Kind::integer;
    a.integer = integer_of(written, t.known() ? t.element : Element::i64);
  }
}

void Parser::dense_items(std::vector<std::string>* items) {
  const Depth depth(*this);
  if (s_.take("[")) {
    while (!s_.take("]")) {
      dense_items(items);
      if (s_.peek() != ']') s_.require(",");
    }
  } else if (s_.at_number()) {
    items->push_back(s_.number());
  } else if (s_.take_word("true")) {
    items->push_back("1");
  } else if (s_.take_word("false")) {
    items->push_back("0");
  } else {
    s_.expected("an element");
  }
  if (static_cast<int64_t>(items->size()) > kLargest) s_.fail("found too many elements");
}

Attribute Parser::dense() {
  Attribute a;
  a.kind = Attribute::Kind::dense;
  s_.require("<");
  std::vector<std::string> items;
  std::string bytes;
  bool as_bytes = false;
  if (s_.peek() == '"') {
    bytes = s_.string();
    as_bytes = true;
  } else if (s_.peek() != '>') {
    dense_items(&items);
  }
  s_.require(">");
  s_.require(":");
  a.type = type();
  if (!a.type.known()) return a;
  if (!a.type.is(Type::Kind::number, true)) s_.fail("found dense elements for " + a.type.to_string());
  const int64_t count = a.type.shape.elements();
  if (as_bytes) items = from_bytes(bytes, a.type);
  if (items.size() != 1 && static_cast<int64_t>(items.size()) != count)
    s_.fail("found " + std::to_string(items.size()) + " elements for " + a.type.to_string());
  for (const std::string& item : items) {
    if (is_float(a.type.element)) {
      a.reals.push_back(real_of(item, a.type.element));
    } else {
      a.integers.push_back(integer_of(item, a.type.element));
    }
  }
  return a;
}

std::vector<std::string> Parser::from_bytes(const std::string& hex, const Type& t) {
  const auto digits_each = static_cast<size_t>(std::max(8, bits_of(t.element)) / 4);
  if (hex.compare(0, 2, "0x") != 0 || (hex.size() - 2) % digits_each != 0)
    s_.fail("found \"" + hex.substr(0, 20) + "\", expected \"0x\" and " + std::to_string(digits_each) +
            " digits an element");
  std::vector<std::string> items;
  for (size_t at = 2; at < hex.size(); at += digits_each) {
    std::string item = "0x";
    for (size_t b = digits_each; b > 0; b -= 2) item += hex.substr(at + b - 2, 2);
    if (item.find_first_not_of("0123456789abcdefABCDEF", 2) != std::string::npos)
      s_.fail("found \"" + item + "\", expected hexadecimal digits");
    items.push_back(item);
  }
  return items;
}

}  // namespace kernbench::triton
