// SPDX-License-Identifier: Apache-2.0
// docs/reference/ops.md, "Edges", row by row: every op on every type, at every code of the short types and at the edges
// of f32 and i32, on every instruction-set path. Compared with plain arithmetic by the definitions of the types
// (plain_values.h).
#include <gtest/gtest.h>

#include <random>

#include "eval_helpers.h"
#include "kernbench/phase2/op/math_op.h"
#include "plain_machine.h"
#include "replay_helpers.h"

namespace kernbench::testing {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i32,
                            DType::i16, DType::i8,  DType::u8,   DType::u16,    DType::u32};

/// Bit patterns of both signs around zero, at the ends of the subnormals, at one, and at the top.
std::vector<uint32_t> edges(DType t) {
  std::vector<uint32_t> codes;
  if (!is_float(t)) {
    const double high = bounds_of(t).highest, low = bounds_of(t).lowest;
    for (double v : {0.0, 1.0, 2.0, 3.0, 7.0, 100.0, high, high - 1, std::floor(high / 2), std::floor(high / 2) + 1})
      codes.push_back(static_cast<uint32_t>(static_cast<int64_t>(v)));
    for (double v : {-1.0, -2.0, -3.0, -100.0, low, low + 1, std::trunc(low / 2)}) {
      if (v >= low) codes.push_back(static_cast<uint32_t>(static_cast<int64_t>(v)));
    }
    if (t == DType::i32) codes.insert(codes.end(), {46341, 16777217, (1u << 24) + (1u << 16) + 1, 65536, 32768});
    return codes;
  }
  const FloatFormat f = t == DType::f32 ? FloatFormat{t, 8, 23, true} : *short_float(t);
  const uint32_t unit = 1u << f.mantissa_bits, one = static_cast<uint32_t>(f.bias()) << f.mantissa_bits;
  const uint32_t top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits,
                 sign = 1u << (f.exponent_bits + f.mantissa_bits);
  for (uint32_t c : {0u, 1u, 2u, unit - 1, unit, unit + 1, one - 1, one, one + 1, one + unit / 2, one + unit,
                     one + 2 * unit, one + 5 * unit, top - 1, top, top + 1, top + unit - 2, top + unit - 1}) {
    codes.push_back(c);
    codes.push_back(c | sign);
  }
  return codes;
}

/// Every code of a short type, or every `step`-th. For f32 and i32: their edges, the edges of other types, and many
/// random values.
std::vector<uint32_t> all_codes(DType t, uint32_t step = 1) {
  std::vector<uint32_t> codes = edges(t);
  if (size_of(t) < 4) {
    for (uint32_t c = 0; c < 1u << (8 * size_of(t)); c += size_of(t) == 1 ? 1 : step) codes.push_back(c);
    return codes;
  }
  for (double v : {127.5,        128.0, 128.5, 129.0,   255.0,   255.5,   256.0,   32767.5,  32768.0, 32769.0,
                   448.0,        464.0, 464.1, 57344.0, 61439.0, 61440.0, 65504.0, 65519.99, 65520.0, 2147483520.0,
                   2147483648.0, 88.7,  88.8,  103.9,   104.0,   9.02,    1e-30,   5e-8,     6e-8,    1e-5}) {
    for (double s : {v, -v}) {
      uint8_t bytes[4];
      encode(t == DType::f32 ? f32_of(s) : std::clamp(std::trunc(s), bounds_of(t).lowest, bounds_of(t).highest), t,
             bytes);
      codes.emplace_back();
      std::memcpy(&codes.back(), bytes, 4);
    }
  }
  std::mt19937 rng(5);
  for (int i = 0; i < 3000; ++i) codes.push_back(rng());
  return codes;
}

Bytes bytes_of(const std::vector<uint32_t>& codes, DType t) {
  Bytes b(codes.size() * size_of(t));
  for (size_t i = 0; i < codes.size(); ++i) std::memcpy(&b[i * size_of(t)], &codes[i], size_of(t));
  return b;
}

/// Consecutive tensors in memory, and an op over them.
class ValuesTable : public ::testing::Test {
 protected:
  Operand place(const std::vector<uint32_t>& codes, DType t, Dims shape = {}) {
    if (shape.rank() == 0) shape = {static_cast<int64_t>(codes.size())};
    const Bytes b = bytes_of(codes, t);
    image_.write({Space::hbm, kNoPe}, next_, b.data(), b.size());
    const Operand o = operand(hbm(next_, t, shape));
    next_ += b.size() + 64;
    return o;
  }
  OpDesc op(const std::string& name, const std::vector<Operand>& operands, DType out, const Dims& shape) {
    OpDesc d;
    d.name = d.op = name;
    d.operands = operands;
    d.output = hbm(next_, out, shape);
    return d;
  }
  /// On every path, each element equals plain arithmetic, with quiet NaNs. The bits are equal on all paths, except for
  /// float products on the path without fused multiply-add.
  void expect_plain(const OpDesc& d) {
    PlainMachine plain(image_);
    const std::vector<Value> want = plain.run(d);
    Bytes first;
    for (const Isa isa : available_isas()) {
      std::vector<Bytes> data;
      std::vector<EvalInput> in;
      for (const Operand& o : d.operands) data.push_back(o.is_scalar ? Bytes{} : image_.gather(o.ref));
      for (size_t i = 0; i < data.size(); ++i) {
        const Operand& o = d.operands[i];
        in.push_back(o.is_scalar ? EvalInput::immediate(o.scalar)
                                 : EvalInput::tensor(data[i].data(), o.ref.dtype, o.ref.shape));
      }
      const Bytes out = evaluate(d, in, isa);
      const std::string what = std::string(name_of(isa)) + ", " + operands_of(d);
      ASSERT_EQ(seen_.compare(d, out.data(), want), "") << what;
      expect_quiet(d, out, what);
      const bool product = d.kind == OpKind::gemm && is_float(d.output.dtype);
      if (isa == Isa::portable && product) continue;
      if (first.empty()) first = out;
      for (size_t i = 0; i < out.size(); i += size_of(d.output.dtype)) {
        // Either of two NaNs may be the result of a product.
        if (product && std::isnan(decoded(&out[i], d.output.dtype)) && std::isnan(decoded(&first[i], d.output.dtype)))
          continue;
        ASSERT_EQ(0, std::memcmp(&out[i], &first[i], size_of(d.output.dtype)))
            << what << ": other bits on another path";
      }
    }
  }
  void TearDown() override {
    EXPECT_LT(seen_.anything, 1 + seen_.points / 1000) << "plain arithmetic does not know";  // at e4m3's limit
  }
  /// Operands that were placed before are no longer needed.
  void forget() { image_ = MemoryImage(); }

  PlainComparison seen_;

 private:
  static std::string operands_of(const OpDesc& d) {
    std::string s = d.op + " of";
    for (const Operand& o : d.operands)
      s += o.is_scalar ? " " + std::to_string(o.scalar) : " " + std::string(name_of(o.ref.dtype));
    return s;
  }
  static void expect_quiet(const OpDesc& d, const Bytes& out, const std::string& what) {
    const DType t = d.output.dtype;
    if (!short_float(t) || t == DType::f8e4m3) return;  // f32 is unchanged, e4m3 has only one NaN
    const int mantissa = short_float(t)->mantissa_bits;
    for (size_t i = 0; i < out.size(); i += size_of(t)) {
      uint32_t bits = 0;
      std::memcpy(&bits, &out[i], size_of(t));
      if (std::isnan(decoded(&out[i], t))) {
        ASSERT_TRUE(bits >> (mantissa - 1) & 1) << what << ": a signalling NaN";
      }
    }
  }

  MemoryImage image_;
  uint64_t next_ = 0;
};

TEST_F(ValuesTable, conversions_of_every_type_to_every_other) {
  for (DType from : kTypes) {
    const std::vector<uint32_t> codes = all_codes(from, is_float(from) ? 1 : 5);
    forget();
    const Operand x = place(codes, from);
    for (DType to : kTypes) expect_plain(op("cast", {x}, to, x.ref.shape));
  }
}

TEST_F(ValuesTable, ops_of_one_operand) {
  for (const MathOp& m : math_ops()) {
    if (!m.is_elementwise() || m.arity != 1 || m.name == "cast") continue;
    for (DType t : kTypes) {
      if (m.float_only && !is_float(t)) continue;
      if (m.integer_only && is_float(t)) continue;
      forget();
      const Operand x = place(all_codes(t, 5), t);
      expect_plain(op(std::string(m.name), {x}, result_dtype(m, {t}), x.ref.shape));
    }
  }
}

TEST_F(ValuesTable, ops_of_two_operands) {
  for (const MathOp& m : math_ops()) {
    if (!m.is_elementwise() || m.arity != 2) continue;
    for (DType t : kTypes) {
      if (m.integer_only && is_float(t)) continue;
      const std::vector<uint32_t> b = edges(t), a = size_of(t) == 1 ? all_codes(t) : b;
      const auto rows = static_cast<int64_t>(a.size()), cols = static_cast<int64_t>(b.size());
      forget();
      const Operand x = place(a, t, {rows, 1}), y = place(b, t, {1, cols});
      expect_plain(op(std::string(m.name), {x, y}, result_dtype(m, {t, t}), {rows, cols}));
      expect_plain(op(std::string(m.name), {y, x}, result_dtype(m, {t, t}), {rows, cols}));
    }
  }
}

TEST_F(ValuesTable, ops_of_three_operands) {
  for (DType t : kTypes) {
    const std::vector<uint32_t> codes = edges(t);
    const auto n = static_cast<int64_t>(codes.size());
    const Operand x = place(codes, t, {n, 1, 1}), y = place(codes, t, {n, 1}), z = place(codes, t, {n});
    for (const char* name : {"fma", "clamp"}) expect_plain(op(name, {x, y, z}, t, {n, n, n}));
    for (DType condition : kTypes) {
      const std::vector<uint32_t> set = edges(condition);
      const auto m = static_cast<int64_t>(set.size());
      expect_plain(op("where", {place(set, condition, {m, 1, 1}), y, z}, t, {m, n, n}));
    }
  }
}

TEST_F(ValuesTable, immediates) {
  for (DType t : kTypes) {
    const Operand x = place(edges(t), t);
    for (double v : {0.0, -0.0, 1.5, -2.0, 3.0, 1e10, -4294967297.0, 2147483648.0}) {
      expect_plain(op("add", {x, immediate(v)}, t, x.ref.shape));
      expect_plain(op("mul", {immediate(v), x}, t, x.ref.shape));
      if (v == std::trunc(v) || is_float(t)) expect_plain(op("full", {immediate(v)}, t, {5}));
    }
    expect_plain(op("arange", {immediate(-3), immediate(2)}, t, {200}));
  }
  for (double v : std::initializer_list<double>{INFINITY, -INFINITY, NAN, 1e39, 1e-46}) {
    for (DType t : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2})
      expect_plain(op("full", {immediate(v)}, t, {3}));
  }
}

TEST_F(ValuesTable, reductions_and_softmax) {
  std::mt19937 rng(9);
  for (DType t : kTypes) {
    const std::vector<uint32_t> some = edges(t);
    constexpr int64_t kRows = 200, kCols = 7;
    std::vector<uint32_t> codes;
    for (int64_t i = 0; i < kRows * kCols; ++i) codes.push_back(some[rng() % some.size()]);
    for (int64_t row = 0; row < kRows; ++row) {  // every edge also in a separate row
      if (static_cast<size_t>(row) < some.size())
        std::fill_n(codes.begin() + row * kCols, kCols, some[static_cast<size_t>(row)]);
    }
    const Operand x = place(codes, t, {kRows, kCols});
    for (const char* name : {"max", "min", "argmax", "sum", "softmax"}) {
      const std::string n = name;
      if (n == "softmax" && !is_float(t)) continue;
      for (int axis : {0, 1}) {
        const Dims shape = n == "softmax" ? Dims{kRows, kCols} : axis == 0 ? Dims{kCols} : Dims{kRows};
        OpDesc d = op(n, {x}, n == "argmax" || (n == "sum" && !is_float(t)) ? DType::i32 : t, shape);
        d.reduction = n != "softmax";
        d.axis = axis;
        expect_plain(d);
      }
    }
  }
  seen_.anything = 0;  // sums may overflow on the way, depending on their order
}

/// The product of a column and a row contains every pair of edges, rounded once; the accumulator begins at +0.
TEST_F(ValuesTable, products_of_every_pair) {
  for (DType t : kTypes) {
    const std::vector<uint32_t> codes = edges(t);
    const auto n = static_cast<int64_t>(codes.size());
    const Operand a = place(codes, t, {n, 1}), b = place(codes, t, {1, n});
    for (DType out : kTypes) {
      if (is_float(out) != is_float(t) || t == DType::u32 || out == DType::u32) continue;
      OpDesc d = op("gemm", {a, b}, out, {n, n});
      d.type = CommandType::gemm;
      d.kind = OpKind::gemm;
      d.m = d.n = n;
      d.k = 1;
      d.dtype_acc = accumulator_of(t);
      expect_plain(d);
    }
  }
}

}  // namespace
}  // namespace kernbench::testing
