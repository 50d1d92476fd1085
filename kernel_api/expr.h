// What tl.reduce and tl.associative_scan combine two values by, written in C++: `[](tl::Expr a, tl::Expr b) { return
// tl::maximum(a, b); }`. An expression is only written down here; pe_math does it.
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>

namespace kernbench::tl {

class Expr {
 public:
  /// A number. Made implicitly.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Expr(T number) : Expr(constant(static_cast<double>(number))) {}  // NOLINT: implicit

  /// What came before, and what comes next.
  static Expr a() { return Expr(std::string("a")); }
  static Expr b() { return Expr(std::string("b")); }
  /// Any elementwise op by name, of as many operands as it takes; whether it exists is said where the expression is
  /// used.
  static Expr op(const char* name, std::initializer_list<Expr> operands);

  /// As OpDesc::argument has it (phase2/op/combiner.h).
  const std::string& text() const { return text_; }

 private:
  explicit Expr(std::string text) : text_(std::move(text)) {}
  static Expr constant(double number);
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
inline Expr maximum(const Expr& x, const Expr& y) {
  return Expr::op("maximum", {x, y});
}
inline Expr minimum(const Expr& x, const Expr& y) {
  return Expr::op("minimum", {x, y});
}
inline Expr where(const Expr& condition, const Expr& x, const Expr& y) {
  return Expr::op("where", {condition, x, y});
}

}  // namespace kernbench::tl
