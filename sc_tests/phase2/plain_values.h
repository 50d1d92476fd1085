// SPDX-License-Identifier: Apache-2.0
// Plain arithmetic for tests, independent of the block arithmetic: f64 and int64, one element at a time. A value is a
// range. It is a point if the result is exact (docs/phase2.md, "Values"); otherwise its width covers all roundings.
// Complete programs can so be followed, with a tolerance that fits their types and ops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "float_formats.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::testing {

struct Value {
  double lo = 0, hi = 0;
  bool known = true;  ///< else it may be anything

  static Value exactly(double v) { return {v, v, true}; }
  static Value anything() { return {0, 0, false}; }
  static Value between(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return anything();
    return {std::min(a, b), std::max(a, b), true};
  }
  /// A zero of either sign.
  static Value some_zero() { return {-0.0, 0.0, true}; }
  /// Exact, except for the payload of a NaN.
  bool exact() const {
    return known && ((lo == hi && std::signbit(lo) == std::signbit(hi)) || (std::isnan(lo) && std::isnan(hi)));
  }
  bool holds(double v) const {
    if (!known) return true;
    if (exact() && lo == 0 && v == 0) return std::signbit(v) == std::signbit(lo);
    return std::isnan(lo) ? std::isnan(v) : v >= lo && v <= hi;
  }
  Value widened(double by) const { return known && std::isfinite(lo) ? between(lo - by, hi + by) : *this; }
};

inline Value hull(const Value& a, const Value& b) {
  if (!a.known || !b.known) return Value::anything();
  if (a.exact() && b.exact() && std::isnan(a.lo) && std::isnan(b.lo)) return a;
  if (a.lo == 0 && a.hi == 0 && b.lo == 0 && b.hi == 0)
    return a.exact() && b.exact() && std::signbit(a.lo) == std::signbit(b.lo) ? a : Value::some_zero();
  if (std::isnan(a.lo) || std::isnan(b.lo)) return Value::anything();
  return Value::between(std::min(a.lo, b.lo), std::max(a.hi, b.hi));
}

/// f over the corners of its arguments' ranges. Correct if f is monotonic in each argument.
template <class F>
Value over_corners(const std::vector<Value>& x, F f) {
  bool exact = true;
  for (const Value& v : x) {
    if (!v.known) return Value::anything();
    exact &= v.exact();
  }
  std::vector<double> at(x.size());
  for (size_t j = 0; j < x.size(); ++j) at[j] = x[j].lo;
  Value r = Value::exactly(f(at));
  if (exact) return r;
  const double first = r.lo;
  bool same = true;
  for (size_t corner = 0; corner < size_t{1} << x.size(); ++corner) {
    for (size_t j = 0; j < x.size(); ++j) at[j] = corner >> j & 1 ? x[j].hi : x[j].lo;
    const double v = f(at);
    if (!std::isfinite(v)) return Value::anything();
    same &= v == first && std::signbit(v) == std::signbit(first);
    r = Value::between(std::min(r.lo, v), std::max(r.hi, v));
  }
  return !same && r.lo == 0 && r.hi == 0 ? Value::some_zero() : r;
}

inline double f32_of(double v) {
  return static_cast<double>(static_cast<float>(v));
}
/// Both ends of a range, rounded by f, which must be monotonic; an end may become infinite.
template <class F>
Value rounded_by(const Value& v, F f) {
  if (!v.known) return v;
  const double lo = f(v.lo), hi = f(v.hi);
  if (v.exact()) return Value::exactly(lo);
  if (std::isnan(lo) || std::isnan(hi)) return Value::anything();
  return lo == 0 && hi == 0 && std::signbit(lo) != std::signbit(hi) ? Value::some_zero() : Value{lo, hi, true};
}
inline Value f32_of(const Value& v) {
  return rounded_by(v, [](double x) { return f32_of(x); });
}
/// One unit in the last place of f32 at v.
inline double unit_of(double v) {
  const float a = std::min(std::abs(static_cast<float>(v)), 1e38f);
  return static_cast<double>(std::nextafterf(a, INFINITY)) - static_cast<double>(a);
}

struct Bounds {
  double lowest, highest;
};
inline Bounds bounds_of(DType t) {
  switch (t) {
    case DType::i8:
      return {-128, 127};
    case DType::u8:
      return {0, 255};
    case DType::i16:
      return {-32768, 32767};
    case DType::u16:
      return {0, 65535};
    case DType::u32:
      return {0, 4294967295.0};
    case DType::i64:
      return {-0x1p63, 0x1p63};  // as a double: values beyond 2^53 are inexact
    default:
      return {-2147483648.0, 2147483647.0};
  }
}

inline double wrapped(double v, DType t) {
  const Bounds b = bounds_of(t);
  const double n = b.highest - b.lowest + 1;
  return v - std::floor((v - b.lowest) / n) * n;
}
inline Value wrapped(const Value& v, DType t) {
  if (!v.known) return v;
  if (v.exact()) return Value::exactly(wrapped(v.lo, t));
  const Bounds b = bounds_of(t);
  return v.lo >= b.lowest && v.hi <= b.highest ? v : Value::anything();
}

/// An integer or a float as an element of type t.
inline Value rounded(const Value& v, DType t, bool integer) {
  if (!is_float(t) && integer) return wrapped(v, t);
  const FloatFormat* f = short_float(t);
  const Bounds b = bounds_of(t);
  return rounded_by(v, [&](double x) {
    if (!is_float(t)) return std::isnan(x) ? 0 : std::clamp(std::trunc(x), b.lowest, b.highest);
    // Floats come from f32, integers are rounded once.
    return f ? f->nearest(integer ? x : f32_of(x)) : f32_of(x);
  });
}

inline double decoded(const uint8_t* bytes, DType t) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, size_of(t));
  if (const FloatFormat* f = short_float(t)) return f->value_of(bits);
  if (t == DType::f32) {
    float v;
    std::memcpy(&v, bytes, 4);
    return static_cast<double>(v);
  }
  if (t == DType::i32) return static_cast<int32_t>(bits);
  return wrapped(bits, t);
}
/// For a value of type t, except NaN.
inline void encode(double v, DType t, uint8_t* bytes) {
  uint32_t bits;
  if (const FloatFormat* f = short_float(t)) {
    bits = f->bits_of(v);
  } else if (t == DType::f32) {
    const auto x = static_cast<float>(v);
    std::memcpy(&bits, &x, 4);
  } else {
    bits = static_cast<uint32_t>(static_cast<int64_t>(v));
  }
  std::memcpy(bytes, &bits, size_of(t));
}

/// The value by the op's row, which ops_agree_with_numpy_test.py checks against numpy.
inline double plain_float(const std::string& op, const std::vector<double>& x) {
  return find_math_op(op)->value(x);
}

/// In wrapping i32, or in i64 if an operand is not i32. f64 does not hold all products, int64 does.
inline double plain_integer(const std::string& op, const std::vector<double>& x) {
  std::vector<int64_t> v;
  bool wide = false;
  for (double d : x) {
    v.push_back(static_cast<int64_t>(d));
    wide |= v.back() != static_cast<int32_t>(v.back());
  }
  const auto wrap = [&](uint64_t n) {
    // Beyond 2^53, where a double is inexact, results of 32 bits and fewer keep the low bits.
    if (wide && n + (uint64_t{1} << 53) > uint64_t{1} << 54) return static_cast<double>(static_cast<uint32_t>(n));
    return static_cast<double>(wide ? static_cast<int64_t>(n) : static_cast<int32_t>(static_cast<uint32_t>(n)));
  };
  std::vector<uint64_t> u(v.begin(), v.end());
  const auto count = u.size() > 1 ? u[1] : 0;
  const uint64_t width = wide ? 64 : 32;
  if (op == "mul") return wrap(u[0] * u[1]);
  if (op == "fma") return wrap(u[0] * u[1] + u[2]);
  if (op == "div") return v[1] == 0 ? 0 : wrap(static_cast<uint64_t>(v[0] / v[1]));
  if (op == "mod") return v[1] == 0 ? x[0] : static_cast<double>(v[0] % v[1]);
  if (op == "bitwise_not") return wrap(~u[0]);
  if (op == "bitwise_and") return wrap(u[0] & u[1]);
  if (op == "bitwise_or") return wrap(u[0] | u[1]);
  if (op == "bitwise_xor") return wrap(u[0] ^ u[1]);
  if (op == "shift_left") return count < width ? wrap(u[0] << count) : 0;
  if (op == "shift_right") return count < width ? wrap(static_cast<uint64_t>(v[0] >> count)) : v[0] < 0 ? -1 : 0;
  if (op == "umulhi")
    return static_cast<int32_t>(static_cast<uint32_t>((u[0] & 0xffffffff) * (u[1] & 0xffffffff) >> 32));
  return wrap(static_cast<uint64_t>(static_cast<int64_t>(plain_float(op, x))));
}

inline bool in(const std::string& op, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}
inline bool needs_floats(const std::string& op) {
  return find_math_op(op)->float_only;
}
/// Not monotonic: with inexact operands the result may be anything.
inline bool leaps(const std::string& op) {
  return in(op,
            {"mod", "bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right", "umulhi"});
}

/// One element of an elementwise op, in f32 or i32, before its conversion to a type.
inline Value plain_elementwise(const std::string& op, const std::vector<Value>& x, bool integers) {
  if (op == "where") {
    const Value& c = x[0];
    if (c.exact()) return c.lo == 0 ? x[2] : x[1];
    return c.known && (c.lo > 0 || c.hi < 0) ? x[1] : hull(x[1], x[2]);
  }
  const bool points = std::all_of(x.begin(), x.end(), [](const Value& v) { return v.exact(); });
  const bool all_known = std::all_of(x.begin(), x.end(), [](const Value& v) { return v.known; });
  if (!points && in(op, {"lt", "le", "gt", "ge", "eq", "ne"})) {
    if (!all_known) return Value::between(0, 1);
    if (x[0].lo <= x[1].hi && x[1].lo <= x[0].hi) return Value::between(0, 1);
  }
  if (!points && leaps(op)) return Value::anything();
  if (!points && in(op, {"sin", "cos"})) return all_known ? Value::between(-1, 1) : Value::anything();
  if (integers) {
    if (points) return over_corners(x, [&](const std::vector<double>& at) { return plain_integer(op, at); });
    if (op == "div" && x[1].lo <= 0 && x[1].hi >= 0) return Value::anything();
    // It is monotonic like the exact op where it does not wrap.
    Value r = over_corners(x, [&](const std::vector<double>& at) { return std::trunc(plain_float(op, at)); });
    if (op == "abs" && r.known && x[0].lo < 0 && x[0].hi > 0) r.lo = 0;
    if (r.known && std::max(std::abs(r.lo), std::abs(r.hi)) > 0x1p53) return Value::anything();  // inexact in f64
    return wrapped(r, DType::i32);
  }
  if (op == "div" && !points && all_known && x[1].lo <= 0 && x[1].hi >= 0) return Value::anything();
  Value r = over_corners(x, [&](const std::vector<double>& at) { return plain_float(op, at); });
  if (op == "abs" && !points && r.known && x[0].lo < 0 && x[0].hi > 0) r.lo = 0;
  if (needs_floats(op) && op != "sqrt" && !(r.exact() && !std::isfinite(r.lo))) {
    double by = r.known ? 2.5 * std::max(unit_of(r.lo), unit_of(r.hi)) : 0;
    if (op == "gelu" && r.known) by += 2e-9 * std::max(std::abs(x[0].lo), std::abs(x[0].hi));
    if (in(op, {"gelu", "silu"}) && r.known) by += 1.2 * (x[0].hi - x[0].lo);  // not monotonic
    const bool zero = r.exact() && r.lo == 0 && x[0].exact() && x[0].lo == 0;
    if (!zero) r = r.widened(by);
  }
  return f32_of(r);
}

}  // namespace kernbench::testing
