// SPDX-License-Identifier: Apache-2.0
// A combiner for tl.reduce and tl.associative_scan, written in C++: `[](tl::Expr a, tl::Expr b) { return tl::maximum(a,
// b); }`. An expression is only recorded here; pe_math evaluates it.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernbench::tl {

class Expr {
 public:
  /// A number; converts implicitly.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Expr(T number) : Expr(constant(static_cast<double>(number))) {}  // NOLINT: implicit

  /// The previous and the next value; for a tuple, those of a member.
  static Expr a(size_t member = 0) { return Expr("a" + number(member)); }
  static Expr b(size_t member = 0) { return Expr("b" + number(member)); }
  /// Any elementwise op by name, with as many operands as it takes. Its use reports an unknown name.
  static Expr op(const char* name, std::initializer_list<Expr> operands);

  /// The text for OpDesc::argument (phase2/op/combiner.h).
  const std::string& text() const { return text_; }

 private:
  explicit Expr(std::string text) : text_(std::move(text)) {}
  static Expr constant(double number);
  static std::string number(size_t member) { return member > 0 ? std::to_string(member) : std::string(); }
  std::string text_;
};

inline Expr operator+(const Expr& x, const Expr& y) {
  return Expr::op("add", {x, y});
}
inline Expr operator-(const Expr& x, const Expr& y) {
  return Expr::op("sub", {x, y});
}
inline Expr operator*(const Expr& x, const Expr& y) {
  return Expr::op("mul", {x, y});
}
inline Expr operator/(const Expr& x, const Expr& y) {
  return Expr::op("div", {x, y});
}
inline Expr operator%(const Expr& x, const Expr& y) {
  return Expr::op("mod", {x, y});
}
inline Expr operator&(const Expr& x, const Expr& y) {
  return Expr::op("bitwise_and", {x, y});
}
inline Expr operator|(const Expr& x, const Expr& y) {
  return Expr::op("bitwise_or", {x, y});
}
inline Expr operator^(const Expr& x, const Expr& y) {
  return Expr::op("bitwise_xor", {x, y});
}
inline Expr operator<(const Expr& x, const Expr& y) {
  return Expr::op("lt", {x, y});
}
inline Expr operator>(const Expr& x, const Expr& y) {
  return Expr::op("gt", {x, y});
}
inline Expr operator<=(const Expr& x, const Expr& y) {
  return Expr::op("le", {x, y});
}
inline Expr operator>=(const Expr& x, const Expr& y) {
  return Expr::op("ge", {x, y});
}
inline Expr operator==(const Expr& x, const Expr& y) {
  return Expr::op("eq", {x, y});
}
inline Expr operator!=(const Expr& x, const Expr& y) {
  return Expr::op("ne", {x, y});
}
inline Expr maximum(const Expr& x, const Expr& y) {
  return Expr::op("maximum", {x, y});
}
inline Expr minimum(const Expr& x, const Expr& y) {
  return Expr::op("minimum", {x, y});
}
inline Expr where(const Expr& condition, const Expr& x, const Expr& y) {
  return Expr::op("where", {condition, x, y});
}

/// Texts of the combiner of a tuple of N, one for each member. In each text that member is first, followed by the
/// others in order. `combine` gets the N previous and the N next values.
template <size_t N, class F, size_t... I>
std::vector<std::string> member_combiners(const F& combine, std::index_sequence<I...>) {
  std::vector<std::string> texts;
  for (size_t first = 0; first < N; ++first) {
    const auto place = [first](size_t member) { return member == first ? 0 : member < first ? member + 1 : member; };
    const std::array<Expr, N> made = combine(Expr::a(place(I))..., Expr::b(place(I))...);
    std::string text = made[first].text();
    for (size_t member = 0; member < N; ++member) {
      if (member != first) text += " " + made[member].text();
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace kernbench::tl
