// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/check/reference_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/provenance.h"
#include "kernbench/phase2/op/chain.h"
#include "kernbench/phase2/op/combiner.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::phase2 {
namespace {

/// Offset of element `i` (row-major) of an operand that is broadcast to `shape`.
const uint8_t* place_of(const EvalInput& in, const Dims& shape, int64_t i) {
  const int lead = shape.rank() - in.shape.rank();
  int64_t offset = 0;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int64_t at = i % shape[d];
    i /= shape[d];
    if (d >= lead && in.shape[d - lead] != 1) offset += at * in.strides[d - lead];
  }
  return in.data + offset * static_cast<int64_t>(size_of(in.dtype));
}
double element(const EvalInput& in, const Dims& shape, int64_t i) {
  return in.is_scalar ? in.scalar : load_scalar(place_of(in, shape, i), in.dtype);
}
int64_t whole_element(const EvalInput& in, const Dims& shape, int64_t i) {
  return in.is_scalar ? wrap_i64(in.scalar) : load_integer(place_of(in, shape, i), in.dtype);
}

double apply_floats(const MathOp& op, const std::vector<double>& x) {
  if (!op.f64) throw EvalError("no reference for '" + std::string(op.name) + "'");
  return op.value(x);
}

bool in_integers(const MathOp& op, const std::vector<EvalInput>& in) {
  bool tensor = false;
  for (size_t i = op.first_is_condition ? 1 : 0; i < in.size(); ++i) {
    if (in[i].is_scalar ? in[i].scalar != std::trunc(in[i].scalar) || !std::isfinite(in[i].scalar)
                        : is_float(in[i].dtype))
      return false;
    tensor |= !in[i].is_scalar;
  }
  return tensor && !op.float_only;
}

/// In wrapping integers of 32 or 64 bits.
int64_t apply_integers(const MathOp& op, const std::vector<int64_t>& x, int bits) {
  if (!op.i64) throw EvalError("no reference for '" + std::string(op.name) + "'");
  return op.value(x, bits);
}

/// For f64 values that are i32 values.
double apply_integers(const MathOp& op, const std::vector<double>& x) {
  return static_cast<double>(apply_integers(op, std::vector<int64_t>(x.begin(), x.end()), 32));
}

/// An exact integer wrapped to i32.
double wrapped(double v) {
  return wrap_i32(v);
}
int32_t wrapped(uint64_t v) {
  return static_cast<int32_t>(static_cast<uint32_t>(v));
}

/// The value rounded to the output's dtype.
double rounded(double v, DType t) {
  uint8_t bytes[8];
  store_scalar(v, t, bytes);
  return load_scalar(bytes, t);
}

/// The same for an integer.
double rounded(int64_t v, DType t) {
  uint8_t bytes[8];
  convert(&v, DType::i64, bytes, t, 1);
  return load_scalar(bytes, t);
}

/// 64 if an operand's values do not fit i32. The result of umulhi has as many bits as its operands.
int bits_of(const std::string& op, const std::vector<EvalInput>& in) {
  const bool wide = std::any_of(in.begin(), in.end(), [&](const EvalInput& x) {
    return !x.is_scalar && (x.dtype == DType::i64 || (x.dtype == DType::u32 && op != "umulhi"));
  });
  return wide ? 64 : 32;
}

ReferenceValues elementwise(const OpDesc& d, const MathOp& op, const std::vector<EvalInput>& in) {
  ReferenceValues r;
  const bool integers = in_integers(op, in);
  const int bits = bits_of(d.op, std::vector<EvalInput>(in.begin() + op.first_is_condition, in.end()));
  std::vector<double> x(in.size());
  std::vector<int64_t> whole(in.size());
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    for (size_t j = 0; j < in.size(); ++j) {
      if (integers && (j > 0 || !op.first_is_condition)) {
        whole[j] = whole_element(in[j], d.output.shape, i);
        if (bits == 32) whole[j] = wrapped(static_cast<uint64_t>(whole[j]));
        continue;
      }
      x[j] = element(in[j], d.output.shape, i);
      if (in[j].is_scalar) x[j] = static_cast<double>(static_cast<float>(x[j]));
      whole[j] = x[j] != 0;
    }
    if (integers) {
      r.values.push_back(rounded(apply_integers(op, whole, bits), d.output.dtype));
      continue;
    }
    r.values.push_back(apply_floats(op, x));
    if (!is_float(d.output.dtype)) {
      // A float result as an integer: toward zero and saturating, from f32.
      const auto f = static_cast<float>(r.values.back());
      uint8_t bytes[8];
      convert(&f, DType::f32, bytes, d.output.dtype, 1);
      r.values.back() = load_scalar(bytes, d.output.dtype);
    }
  }
  return r;
}

/// Applies a combiner to single values. Floats are rounded to f32 after each op.
template <class T>
T combined(const Combiner& combiner, T a, T b, int bits) {
  std::vector<T> stack;
  for (const Combiner::Step& s : combiner.steps()) {
    using Kind = Combiner::Step::Kind;
    if (s.kind != Kind::call) {
      stack.push_back(s.kind == Kind::first    ? a
                      : s.kind == Kind::second ? b
                                               : static_cast<T>(static_cast<float>(s.constant)));
      continue;
    }
    const std::vector<T> x(stack.end() - s.op->arity, stack.end());
    stack.resize(stack.size() - x.size());
    if constexpr (std::is_same_v<T, double>) {
      stack.push_back(static_cast<double>(static_cast<float>(apply_floats(*s.op, x))));
    } else {
      stack.push_back(apply_integers(*s.op, x, bits));
    }
  }
  return stack.front();
}

struct Axis {
  int64_t outer = 1, length = 1, inner = 1;
  Axis(const OpDesc& d, const Dims& shape) {
    const int axis = d.axis < 0 ? d.axis + shape.rank() : d.axis;
    length = shape[axis];
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

/// Scans, and reductions other than sum, max, min, argmax, argmin.
template <class T, class Read>
ReferenceValues folded(const OpDesc& d, const std::vector<EvalInput>& in, Read read) {
  const Combiner combiner = Combiner::of(d.op, d.argument);
  const Axis v(d, in[0].shape);
  const bool scan = in.size() > 1;
  ReferenceValues r;
  r.values.resize(static_cast<size_t>(v.outer * v.inner * (scan ? v.length : 1)));
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t i = 0; i < v.inner; ++i) {
      T acc = 0;
      for (int64_t n = 0; n < v.length; ++n) {
        const int64_t k = scan && in[1].scalar != 0 ? v.length - 1 - n : n;
        const T next = read(in[0], in[0].shape, (o * v.length + k) * v.inner + i);
        acc = n ? combined<T>(combiner, acc, next, bits_of("", {in[0]})) : next;
        r.values[static_cast<size_t>(scan ? (o * v.length + k) * v.inner + i : o * v.inner + i)] =
            is_float(d.output.dtype) ? static_cast<double>(acc) : rounded(acc, d.output.dtype);
      }
    }
  }
  return r;
}

/// A value of a tuple's combiner: an f32 float, or an integer of `bits` bits.
struct Member {
  double f = 0;
  int64_t i = 0;
};

std::vector<Member> combined(const Combiner& combiner, const std::vector<Combiner::Types>& types,
                             const std::vector<Member>& a, const std::vector<Member>& b, int bits) {
  std::vector<Member> stack;
  for (size_t at = 0; at < types.size(); ++at) {
    const Combiner::Step& s = combiner.steps()[at];
    Member v;
    if (s.kind == Combiner::Step::Kind::call) {
      std::vector<double> floats;
      std::vector<int64_t> integers;
      for (auto x = stack.end() - s.op->arity; x != stack.end(); ++x) {
        floats.push_back(x->f);
        integers.push_back(x->i);
      }
      stack.resize(stack.size() - floats.size());
      if (types[at].computed_in_floats) {
        v.f = static_cast<double>(static_cast<float>(apply_floats(*s.op, floats)));
      } else {
        v.i = apply_integers(*s.op, integers, bits);
      }
    } else if (s.kind == Combiner::Step::Kind::constant) {
      v = {static_cast<double>(static_cast<float>(s.constant)), static_cast<int64_t>(s.constant)};
    } else {
      v = (s.kind == Combiner::Step::Kind::first ? a : b)[s.member];
    }
    if (types[at].computed_in_floats && !types[at].taken_as_floats) v.i = v.f != 0;
    if (!types[at].computed_in_floats && types[at].taken_as_floats) v.f = v.i != 0;
    stack.push_back(v);
  }
  return stack;
}

/// reduce and associative_scan of a tuple.
ReferenceValues folded_tuple(const OpDesc& d, const std::vector<EvalInput>& in, bool scan) {
  const size_t members = in.size() - (scan ? 1 : 0);
  const bool from_end = scan && in.back().scalar != 0;
  const Combiner combiner(d.argument, members);
  std::vector<bool> floats;
  int bits = 32;
  for (size_t m = 0; m < members; ++m) {
    floats.push_back(is_float(in[m].dtype));
    if (!floats[m]) bits = std::max(bits, bits_of("", {in[m]}));
  }
  const std::vector<Combiner::Types> types = combiner.types(floats);
  const Axis v(d, in[0].shape);
  const auto next_at = [&](int64_t element_at) {
    std::vector<Member> next(members);
    for (size_t m = 0; m < members; ++m) {
      if (floats[m]) next[m].f = element(in[m], in[m].shape, element_at);
      if (!floats[m]) next[m].i = whole_element(in[m], in[m].shape, element_at);
    }
    return next;
  };
  ReferenceValues r;
  r.values.resize(static_cast<size_t>(v.outer * v.inner * (scan ? v.length : 1)));
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t i = 0; i < v.inner; ++i) {
      std::vector<Member> acc;
      for (int64_t n = 0; n < v.length; ++n) {
        const int64_t k = from_end ? v.length - 1 - n : n;
        const int64_t at = (o * v.length + k) * v.inner + i;
        acc = n ? combined(combiner, types, acc, next_at(at), bits) : next_at(at);
        r.values[static_cast<size_t>(scan ? at : o * v.inner + i)] =
            floats[0] ? acc[0].f : rounded(acc[0].i, d.output.dtype);
      }
    }
  }
  return r;
}

/// sort, argsort, topk: by insertion, in long double, which holds every i64.
ReferenceValues sorted(const OpDesc& d, const std::vector<EvalInput>& in) {
  const Axis v(d, in[0].shape);
  const bool descending = d.op == "topk" || in[1].scalar != 0;
  const int64_t kept = d.op == "topk" ? static_cast<int64_t>(in[1].scalar) : v.length;
  ReferenceValues r;
  r.values.resize(static_cast<size_t>(v.outer * kept * v.inner));
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t i = 0; i < v.inner; ++i) {
      std::vector<std::pair<long double, int64_t>> row;
      for (int64_t k = 0; k < v.length; ++k) {
        const int64_t at = (o * v.length + k) * v.inner + i;
        const long double key = is_float(in[0].dtype) ? static_cast<long double>(element(in[0], in[0].shape, at))
                                                      : static_cast<long double>(whole_element(in[0], in[0].shape, at));
        const auto before = [&](long double a, long double b) { return !std::isnan(a) && (std::isnan(b) || a < b); };
        auto to = row.end();
        while (to != row.begin() && (descending ? before((to - 1)->first, key) : before(key, (to - 1)->first))) --to;
        row.insert(to, {key, k});
      }
      for (int64_t k = 0; k < kept; ++k) {
        const auto& [key, from] = row[static_cast<size_t>(k)];
        r.values[static_cast<size_t>((o * kept + k) * v.inner + i)] =
            d.op == "argsort" ? static_cast<double>(from) : static_cast<double>(key);
      }
    }
  }
  return r;
}

ReferenceValues arranged(const OpDesc& d, const std::vector<EvalInput>& in) {
  ReferenceValues r;
  const Axis v(d, d.output.shape);
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    const int64_t outer = i / (v.length * v.inner), inner = i % v.inner;
    int64_t along = i / v.inner % v.length;
    size_t from = 0;
    if (d.op == "cat") {
      while (along >= Axis(d, in[from].shape).length) along -= Axis(d, in[from++].shape).length;
    } else if (d.op == "flip") {
      along = v.length - 1 - along;
    } else {
      along = whole_element(in[1], in[1].shape, i);
    }
    const EvalInput& source = in[from];
    r.values.push_back(element(source, source.shape, (outer * Axis(d, source.shape).length + along) * v.inner + inner));
  }
  return r;
}

ReferenceValues dequantized(const OpDesc& d, const std::vector<EvalInput>& in) {
  ReferenceValues r;
  const int64_t n = d.output.shape.elements(), each = values_in(in[0].dtype);
  const int64_t group = in[1].is_scalar ? n : n / in[1].shape.elements();
  constexpr double kSizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int64_t i = 0; i < n; ++i) {
    double v;
    if (each == 1) {
      v = element(in[0], in[0].shape, i);
    } else {
      const uint32_t code = *place_of(in[0], in[0].shape, i / 2) >> (i % 2 * 4) & 15u;
      const double size = in[0].dtype == DType::i4 ? static_cast<double>(code & 7) : kSizes[code & 7];
      v = code < 8 ? size : in[0].dtype == DType::i4 ? size - 8 : -size;
    }
    const double s = in[1].is_scalar ? static_cast<double>(static_cast<float>(in[1].scalar))
                                     : element(in[1], in[1].shape, i / group);
    const bool exponent = !in[1].is_scalar && in[1].dtype == DType::u8;
    r.values.push_back(v * (!exponent ? s : s == 255 ? NAN : std::exp2(s - 127)));
  }
  return r;
}

ReferenceValues counted(const OpDesc& d, const EvalInput& in) {
  ReferenceValues r;
  r.values.resize(static_cast<size_t>(d.output.shape.elements()));
  for (int64_t i = 0; i < in.shape.elements(); ++i) {
    const int64_t bin = whole_element(in, in.shape, i);
    if (bin >= 0 && bin < d.output.shape.elements()) ++r.values[static_cast<size_t>(bin)];
  }
  return r;
}

/// Philox 4x32, as its paper describes it.
ReferenceValues drawn(const OpDesc& d, const std::vector<EvalInput>& in) {
  ReferenceValues r;
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    const auto seed = static_cast<uint64_t>(wrap_i64(in[1].scalar));
    auto offset = static_cast<uint64_t>(whole_element(in[0], in[0].shape, i));
    if (in[0].dtype != DType::i64) offset &= 0xffffffff;
    std::array<uint64_t, 4> c{offset & 0xffffffff, offset >> 32, 0, 0};
    std::array<uint64_t, 2> key{seed & 0xffffffff, seed >> 32};
    for (int round = 0; round < static_cast<int>(in[2].scalar); ++round) {
      const uint64_t first = 0xD2511F53 * c[0], second = 0xCD9E8D57 * c[2];
      c = {(second >> 32) ^ c[1] ^ key[0], second & 0xffffffff, (first >> 32) ^ c[3] ^ key[1], first & 0xffffffff};
      key = {(key[0] + 0x9E3779B9) & 0xffffffff, (key[1] + 0xBB67AE85) & 0xffffffff};
    }
    const auto word = static_cast<size_t>(in[3].scalar);
    const auto unit = [&](size_t n) {
      const auto v = static_cast<double>(c[n] >> 31 ? 0xffffffff - c[n] : c[n]);
      return static_cast<double>(static_cast<float>(v) * 4.6566127342e-10f);
    };
    if (d.op == "randint") {
      r.values.push_back(static_cast<double>(c[word]));
    } else if (d.op == "rand") {
      r.values.push_back(unit(word));
    } else {
      const double radius = std::sqrt(-2 * std::log(std::max(1e-7, unit(word / 2 * 2))));
      const double turn = static_cast<double>(6.283185307179586f * static_cast<float>(unit(word / 2 * 2 + 1)));
      r.values.push_back(radius * (word % 2 ? std::sin(turn) : std::cos(turn)));
    }
  }
  return r;
}

/// sum, max, min, argmax or argmin of n integers of that many bits.
template <class At>
int64_t reduced(const std::string& op, int bits, int64_t n, const At& at) {
  if (op == "sum") {
    uint64_t sum = 0;
    for (int64_t k = 0; k < n; ++k) sum += static_cast<uint64_t>(at(k));
    return bits == 64 ? static_cast<int64_t>(sum) : wrapped(sum);
  }
  int64_t best = 0;
  for (int64_t k = 1; k < n; ++k) {
    if (op == "max" || op == "argmax" ? at(k) > at(best) : at(k) < at(best)) best = k;
  }
  return op[0] == 'a' ? best : n > 0 ? at(best) : 0;
}

ReferenceValues along_axis(const OpDesc& d, const EvalInput& in) {
  const int axis = d.axis < 0 ? d.axis + in.shape.rank() : d.axis;
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= in.shape[i];
  for (int i = axis + 1; i < in.shape.rank(); ++i) inner *= in.shape[i];
  const int64_t n = in.shape[axis];
  const bool softmax = d.op == "softmax";
  const MathOp &greatest = *find_math_op("maximum"), &least = *find_math_op("minimum");
  ReferenceValues r;
  r.values.resize(static_cast<size_t>(softmax ? outer * n * inner : outer * inner));
  r.scale.resize(r.values.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto place_at = [&](int64_t k) { return (o * n + k) * inner + i; };
      const auto at = [&](int64_t k) { return element(in, in.shape, place_at(k)); };
      double sum = 0, magnitude = 0, high = n ? at(0) : 0, low = high, exps = 0;
      int64_t best = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double v = at(k);
        sum += v;
        magnitude += std::abs(v);
        const bool better = d.op == "argmin" ? v < at(best) : v > at(best);
        if (!std::isnan(at(best)) && (better || std::isnan(v))) best = k;
        high = greatest.value({high, v});
        low = least.value({low, v});
      }
      const auto place = static_cast<size_t>(o * inner + i);
      if (softmax) {
        for (int64_t k = 0; k < n; ++k) exps += std::exp(at(k) - high);
        for (int64_t k = 0; k < n; ++k) {
          r.values[static_cast<size_t>((o * n + k) * inner + i)] = std::exp(at(k) - high) / exps;
        }
        continue;
      }
      if (!is_float(in.dtype)) {  // in integers, because f64 does not hold all of 64 bits
        r.values[place] = rounded(
            reduced(d.op, bits_of("", {in}), n, [&](int64_t k) { return whole_element(in, in.shape, place_at(k)); }),
            d.output.dtype);
        continue;
      }
      double v = d.op == "sum" ? sum : d.op == "max" ? high : d.op == "min" ? low : static_cast<double>(best);
      if (!is_float(d.output.dtype)) v = rounded(v, d.output.dtype);
      r.values[place] = v;
      if (d.op == "sum") r.scale[place] = magnitude;
    }
  }
  return r;
}

/// GEMM and composites: whole-tensor loops, k in tiles.
ReferenceValues fused(const OpDesc& d, const std::vector<EvalInput>& in) {
  const bool gemm = d.kind == OpKind::gemm || d.op == "gemm";
  Dims shape = d.output.shape;
  if (shape.rank() == 0) shape.push_back(1);
  if (shape.rank() == 1) shape = {1, shape[0]};
  const int64_t m = shape[0], n = shape[1], k = gemm ? d.k : 1;
  const int64_t tile_k = gemm && d.tile_k > 0 ? d.tile_k : std::max<int64_t>(k, 1);
  const MathOp *head = gemm ? nullptr : find_math_op(d.op), &product = *find_math_op("mul");
  if (!gemm && !head) throw EvalError("no reference for '" + d.op + "'");
  const std::vector<EvalInput> operands(in.begin(), in.begin() + static_cast<int64_t>(d.operands.size()));
  const bool integer_head = gemm ? !is_float(in[0].dtype) && !is_float(in[1].dtype) : in_integers(*head, operands);
  const int64_t last_row = d.tile_m > 0 ? (m - 1) / d.tile_m * d.tile_m : 0;
  const int64_t last_col = d.tile_n > 0 ? (n - 1) / d.tile_n * d.tile_n : 0;
  const auto scalar_at = [](const EvalInput& x, int64_t row, int64_t col) {
    if (is_packed(x.dtype)) {
      const uint8_t pair = x.data[row * x.strides[0] + col / 2 * x.strides[1]];
      const uint32_t code = pair >> (col % 2 * 4) & 15u;
      if (x.dtype == DType::i4)
        return static_cast<double>(code < 8 ? static_cast<int>(code) : static_cast<int>(code) - 16);
      constexpr double kSizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
      return code < 8 ? kSizes[code] : -kSizes[code - 8];
    }
    return load_scalar(x.data + (row * x.strides[0] + col * x.strides[1]) * static_cast<int64_t>(size_of(x.dtype)),
                       x.dtype);
  };
  ReferenceValues r;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double acc = gemm && d.operands.size() > 2 ? element(in[2], d.output.shape, i * n + j) : 0, scale = std::abs(acc);
      bool integers = integer_head;
      const auto epilogue = [&](Scope scope) {
        size_t next = d.operands.size();
        for (const EpilogueOp& e : d.epilogue) {
          const size_t first = next;
          next += e.operands.size();
          if (e.scope != scope) continue;
          std::vector<EvalInput> all(in.begin() + static_cast<int64_t>(first), in.begin() + static_cast<int64_t>(next));
          EvalInput running;
          running.dtype = integers ? DType::i32 : DType::f32;
          all.insert(all.begin(), running);
          const bool was = integers;
          const MathOp& fused_op = *find_math_op(e.op);
          integers = integers && in_integers(fused_op, all);
          if (was && !integers) acc = static_cast<double>(static_cast<float>(acc));
          std::vector<double> x{acc};
          for (size_t o = 1; o < all.size(); ++o) {
            const double v = element(all[o], {m, n}, i * n + j);
            x.push_back(all[o].is_scalar && !integers ? static_cast<double>(static_cast<float>(v)) : v);
          }
          acc = integers ? apply_integers(fused_op, x) : apply_floats(fused_op, x);
          if (e.op == "mul") scale *= std::abs(x[1]);
          if (e.op == "add" || e.op == "sub") scale = std::max(scale, std::abs(x[1]));
        }
      };
      for (int64_t k0 = 0; k0 < k || k0 == 0; k0 += tile_k) {
        if (gemm) {
          for (int64_t p = k0; p < std::min(k, k0 + tile_k); ++p) {
            const double a = d.transpose_a ? scalar_at(in[0], p, i) : scalar_at(in[0], i, p);
            const double b = d.transpose_b ? scalar_at(in[1], j, p) : scalar_at(in[1], p, j);
            acc += integer_head ? apply_integers(product, {a, b}) : a * b;
            if (integers) acc = wrapped(acc);
            scale += std::abs(a * b);
          }
        } else {
          std::vector<double> x;
          for (const EvalInput& o : operands) x.push_back(element(o, {m, n}, i * n + j));
          acc = integers ? apply_integers(*head, x) : apply_floats(*head, x);
        }
        epilogue(Scope::per_k_tile);
      }
      epilogue(Scope::per_output_tile);
      if (i >= last_row && j >= last_col) epilogue(Scope::once);
      if (!is_float(d.output.dtype)) acc = integers ? rounded(acc, d.output.dtype) : std::trunc(acc);
      r.values.push_back(acc);
      r.scale.push_back(gemm && !integer_head ? scale / std::sqrt(static_cast<double>(std::max<int64_t>(k, 1))) : 0);
    }
  }
  return r;
}

ReferenceValues moved(const OpDesc& d, const std::vector<EvalInput>& in) {
  ReferenceValues r;
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    const bool on = in.size() < 2 || element(in[1], d.output.shape, i) != 0;
    r.values.push_back(on ? element(in[0], d.output.shape, i) : in.size() > 2 ? element(in[2], d.output.shape, i) : 0);
  }
  return r;
}

/// For an atomic: the old elements, then the new ones, as numbers; 32-bit ones wrap.
ReferenceValues done_atomically(const OpDesc& d, const std::vector<EvalInput>& in) {
  const DType t = in[0].dtype;
  const int64_t n = static_cast<int64_t>(d.ranged->nbytes() / size_of(t));
  const Dims shape{n};
  std::map<uint64_t, double> now;  // by address
  ReferenceValues r;
  std::vector<double> made;
  int64_t i = 0;
  const auto bits = [](double v) { return static_cast<uint32_t>(static_cast<int64_t>(v)); };
  const auto wrapped = [&](uint32_t v) {
    return name_of(t) == "u32" ? static_cast<double>(v) : static_cast<double>(static_cast<int32_t>(v));
  };
  for (const MovedRange& range : d.ranged->ranges) {
    for (uint64_t at = 0; at < range.nbytes; at += size_of(t), ++i) {
      const auto before = now.find(range.addr + at);
      const double a = before == now.end() ? element(in[0], shape, i) : before->second;
      const double b = in[1].is_scalar ? in[1].scalar : element(in[1], shape, i);
      double c = b;
      if (d.op == "add") c = is_float(t) ? a + b : wrapped(bits(a) + bits(b));
      if (d.op == "max") c = std::max(a, b);
      if (d.op == "min") c = std::min(a, b);
      if (d.op == "and") c = wrapped(bits(a) & bits(b));
      if (d.op == "or") c = wrapped(bits(a) | bits(b));
      if (d.op == "xor") c = wrapped(bits(a) ^ bits(b));
      if (d.op == "cas") c = a == (in[2].is_scalar ? in[2].scalar : element(in[2], shape, i)) ? b : a;
      r.values.push_back(a);
      made.push_back(now[range.addr + at] = rounded(c, t));
    }
  }
  r.values.insert(r.values.end(), made.begin(), made.end());
  return r;
}

std::string where(const Operand& o, const std::vector<std::string>& pes) {
  return o.is_scalar ? "immediate" : place_text(o.ref, pes);
}

/// A value that Phase 1 computed for a pending handle must equal Phase 2's, bit for bit.
void compare_materialized(const ReplayedOp& op, const std::vector<std::string>& pes) {
  const OpDesc& d = *op.record.desc;
  const auto differs = std::mismatch(d.data->begin(), d.data->end(), op.output);
  if (differs.first == d.data->end()) return;
  throw OpDeparts(fmt::format(
      "op {} (materialize): the bytes that Phase 1 took for {} differ from Phase 2's, first at byte {} of {}",
      op.record.op_id, where(d.operands[0], pes), differs.first - d.data->begin(), d.data->size()));
}

/// `which`: the part of the op, printed before "departs".
[[noreturn]] void departs(const ReplayedOp& op, const std::string& which, const std::string& reason,
                          const std::vector<std::string>& pes) {
  const OpDesc& d = *op.record.desc;
  std::string s = fmt::format("op {} ({})", op.record.op_id, d.name);
  if (d.where.line) s += fmt::format(" at {}:{}", d.where.file, d.where.line);
  s += which + " differs from its reference: " + reason + "; operands:";
  const std::vector<Operand> operands = inputs_of(d);
  for (size_t i = 0; i < operands.size(); ++i) {
    s += (i ? ", " : " ") + where(operands[i], pes);
    if (operands[i].is_scalar) continue;
    std::string story;
    if (i < op.producers.size() && !op.producers[i].empty()) {
      story = "made by op";
      for (size_t p = 0; p < op.producers[i].size() && p < 8; ++p) story += " " + std::to_string(op.producers[i][p]);
      if (op.producers[i].size() > 8) story += " …";
    }
    const std::string carriers = carriers_of(op.records, op.record, operands[i].ref, pes);
    if (!carriers.empty()) story += (story.empty() ? "" : "; ") + carriers;
    if (!story.empty()) s += " (" + story + ")";
  }
  throw OpDeparts(s);
}

bool is_chain(const OpDesc& d) {
  const MathOp* op = d.type == CommandType::math ? find_math_op(d.op) : nullptr;
  return op && op->kind == MathKind::chain;
}

/// Each step uses the results of the earlier steps, which are already checked as separate commands. So errors do not
/// accumulate.
void check_chain(const ReplayedOp& op, const std::vector<std::string>& pes) {
  const OpDesc& d = *op.record.desc;
  const std::vector<Chain::Step>& steps = Chain::of(d.argument)->steps();
  std::vector<Bytes> made(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    OpDesc one;
    one.name = one.op = steps[i].op->name;
    one.output.dtype = steps[i].dtype;
    one.output.shape = d.output.shape;
    one.output.strides = TensorRef::row_major(d.output.shape);
    std::vector<EvalInput> in;
    for (const Chain::Source& from : steps[i].in)
      in.push_back(from.of_step ? EvalInput::tensor(made[from.index].data(), steps[from.index].dtype, d.output.shape)
                                : op.inputs[from.index]);
    one.operands.resize(in.size());
    const bool last = i + 1 == steps.size();
    if (!last) made[i] = evaluate(one, in);
    const void* values = last ? static_cast<const void*>(op.output) : made[i].data();
    const TensorReport report = verify(one.name, one.output.dtype, d.output.shape, values, reference_of(one, in));
    if (!report.passed)
      departs(op, fmt::format(": step {} of {}, {},", i + 1, steps.size(), one.op), report.reason, pes);
  }
}

}  // namespace

ReferenceValues reference_of(const OpDesc& d, const std::vector<EvalInput>& in) {
  if (d.type == CommandType::load || d.type == CommandType::store) return moved(d, in);
  if (d.type == CommandType::atomic) return done_atomically(d, in);
  if (d.type != CommandType::math) return fused(d, in);
  const MathOp* op = find_math_op(d.op);
  if (!op) throw EvalError("no reference for '" + d.op + "'");
  switch (op->kind) {
    case MathKind::elementwise:
      return elementwise(d, *op, in);
    case MathKind::sort:
      return sorted(d, in);
    case MathKind::arrange:
      return arranged(d, in);
    case MathKind::dequantize:
      return dequantized(d, in);
    case MathKind::histogram:
      return counted(d, in[0]);
    case MathKind::random:
      return drawn(d, in);
    case MathKind::chain:
      throw EvalError("a chain is checked step by step");
    case MathKind::report:
    case MathKind::create:
      break;
    default:
      if (op->kind == MathKind::softmax || op->name == "sum" || op->name == "max" || op->name == "min" ||
          op->result == ResultRule::index)
        return along_axis(d, in[0]);
      if (in.size() > static_cast<size_t>(op->arity)) return folded_tuple(d, in, op->kind == MathKind::scan);
      if (is_float(in[0].dtype)) return folded<double>(d, in, element);
      return folded<int64_t>(d, in, whole_element);
  }
  ReferenceValues r;
  if (op->kind == MathKind::report) {
    r.values.push_back(1);
    for (int64_t i = 0; i < in[0].shape.elements(); ++i) {
      if (element(in[0], in[0].shape, i) == 0) r.values[0] = 0;
    }
    return r;
  }
  for (int64_t i = 0; i < d.output.shape.elements(); ++i) {
    const double v = in[0].scalar + (in.size() > 1 ? static_cast<double>(i) * in[1].scalar : 0);
    r.values.push_back(rounded(v, d.output.dtype));
  }
  return r;
}

std::function<void(const ReplayedOp&)> reference_check(std::vector<std::string> pes) {
  return [pes = std::move(pes)](const ReplayedOp& op) {
    const OpDesc& d = *op.record.desc;
    if (d.materialized) return compare_materialized(op, pes);
    if (is_chain(d)) return check_chain(op, pes);
    const auto elements = static_cast<int64_t>(d.value_bytes() / size_of(d.output.dtype));
    const Dims shape = d.type == CommandType::atomic ? Dims{elements} : d.output.shape;
    const TensorReport report = verify(d.name, d.output.dtype, shape, op.output, reference_of(d, op.inputs));
    if (!report.passed) departs(op, "", report.reason, pes);
  };
}

}  // namespace kernbench::phase2
