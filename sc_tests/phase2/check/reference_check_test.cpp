// SPDX-License-Identifier: Apache-2.0
// The check of every op: correct results pass for every op and dtype; a wrong one is named with the origin of its
// operands.
#include "kernbench/phase2/check/reference_check.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench {
namespace {

struct Case {
  std::shared_ptr<OpDesc> d = std::make_shared<OpDesc>();
  std::vector<Bytes> bytes;
  std::vector<EvalInput> in;
  void tensor(DType t, const Dims& shape) {
    bytes.push_back(random_tensor(t, shape, bytes.size() + 1));
    in.push_back(EvalInput::tensor(bytes.back().data(), t, shape));
    d->operands.emplace_back();
    d->operands.back().ref.dtype = t;
    d->operands.back().ref.shape = shape;
    d->operands.back().ref.strides = TensorRef::row_major(shape);
    d->operands.back().ref.addr = 0x1000 * bytes.size();
  }
  void immediate(double v) {
    in.push_back(EvalInput::immediate(v));
    d->operands.emplace_back();
    d->operands.back().is_scalar = true;
    d->operands.back().scalar = v;
  }
  void output(DType t, const Dims& shape) {
    d->output.dtype = t;
    d->output.shape = shape;
    d->output.strides = TensorRef::row_major(shape);
  }
  /// The check's message about these bytes; empty if there is none.
  std::string complaint(const Bytes& out) const {
    OpRecord r;
    r.op_id = 17;
    r.desc = d;
    const std::vector<std::vector<uint64_t>> producers(in.size(), {4, 9});
    const std::vector<OpRecord> records;
    try {
      reference_check({"sip0.cube0.pe0"})({r, in, out.data(), producers, records});
    } catch (const OpDeparts& e) {
      return e.what();
    }
    return "";
  }
};

/// Any op on [5, 70] or a similar shape. Returns false if it does not take the type.
bool make_case(Case& c, const MathOp& op, DType t) {
  c.bytes.reserve(8);
  c.d->name = c.d->op = std::string(op.name);
  c.d->type = CommandType::math;
  c.d->axis = 1;
  if (op.integer_only && is_float(t)) return false;
  if (op.name == "reduce" || op.name == "associative_scan") c.d->argument = "a b maximum";
  const DType out = result_dtype(op, {t, t, t});
  switch (op.kind) {
    case MathKind::create:
      for (int i = 0; i < op.arity; ++i) c.immediate(i ? 2 : -3);
      break;
    case MathKind::scan:
    case MathKind::sort:
      c.tensor(t, {5, 70});
      c.immediate(op.name == "topk" ? 70 : 0);
      break;
    case MathKind::arrange:
      c.tensor(t, {5, op.name == "cat" ? 30 : 70});
      if (op.name == "cat") c.tensor(t, {5, 40});
      if (op.name == "gather") {
        c.tensor(DType::u8, {5, 70});
        for (uint8_t& i : c.bytes.back()) i = static_cast<uint8_t>(i % 70);
      }
      break;
    case MathKind::dequantize:
      c.tensor(t, {5, 70});
      c.tensor(DType::f32, {5, 7});
      c.output(DType::f32, {5, 70});
      return true;
    case MathKind::histogram:
      c.tensor(t, {5, 70});
      c.immediate(9);
      c.output(out, {9});
      return true;
    case MathKind::random:
      c.tensor(t, {5, 70});
      for (double v : {7, 10, 1}) c.immediate(v);
      break;
    case MathKind::report:
      c.tensor(t, {5, 70});
      c.output(out, {1});
      return true;
    default:
      for (int i = 0; i < op.arity; ++i) c.tensor(t, {5, 70});
  }
  c.output(out, op.is_reduction() ? Dims{5} : Dims{5, 70});
  return true;
}

TEST(ReferenceCheck, passes_every_op_in_every_type) {
  for (const MathOp& op : math_ops()) {
    for (DType t :
         {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i8, DType::u8, DType::u16, DType::u32, DType::i64}) {
      Case c;
      if (!make_case(c, op, t)) continue;
      Bytes out = evaluate(*c.d, c.in);
      EXPECT_EQ(c.complaint(out), "") << op.name << " " << name_of(t);
      out[out.size() - 1] ^= 0x40;  // the last element, by a large amount
      EXPECT_NE(c.complaint(out), "") << op.name << " " << name_of(t);
    }
  }
}

TEST(ReferenceCheck, reduces_integers_that_no_float_holds) {
  const int64_t big = int64_t{1} << 60;
  const std::vector<int64_t> x = {big, big + 3, big + 1, -big, -big - 3, -big - 1};
  for (const char* op : {"sum", "max", "min", "argmax", "argmin"}) {
    Case c;
    c.bytes.reserve(1);
    c.d->name = c.d->op = op;
    c.d->type = CommandType::math;
    c.d->axis = 1;
    c.tensor(DType::i64, {1, 6});
    std::memcpy(c.bytes.back().data(), x.data(), x.size() * sizeof(x[0]));
    const bool place = op[0] == 'a';
    c.output(place ? DType::i32 : DType::i64, {1});
    Bytes out = evaluate(*c.d, c.in);
    EXPECT_EQ(c.complaint(out), "") << op;
    if (place) {
      EXPECT_EQ(out[0], op == std::string("argmax") ? 1 : 4);
      out[0] ^= 1;
      EXPECT_NE(c.complaint(out), "") << op;
    }
  }
}

TEST(ReferenceCheck, passes_fused_composites) {
  for (DType t : {DType::f32, DType::bf16, DType::i8, DType::i32}) {
    Case c;
    c.bytes.reserve(8);
    c.d->name = "composite_gemm";
    c.d->op = "gemm";
    c.d->kind = OpKind::gemm;
    c.d->type = CommandType::composite;
    c.d->transpose_b = true;
    c.d->m = 20;
    c.d->n = 30;
    c.d->k = 50;
    c.d->tile_m = 16;
    c.d->tile_n = 16;
    c.d->tile_k = 16;
    c.tensor(t, {20, 50});
    c.tensor(t, {30, 50});
    c.output(is_float(t) ? t : DType::i32, {20, 30});
    const auto gemm_operands = c.d->operands;
    c.tensor(is_float(t) ? t : DType::i32, {30});
    c.immediate(2);
    c.d->operands = gemm_operands;
    Operand placeholder;
    c.d->epilogue = {{"add", Scope::per_output_tile, {placeholder}},
                     {"mul", Scope::once, {placeholder}},
                     {"relu", Scope::per_k_tile, {}}};
    EXPECT_EQ(c.complaint(evaluate(*c.d, c.in)), "") << name_of(t);
  }
}

TEST(ReferenceCheck, names_op_place_operands_and_producers) {
  Case c;
  c.bytes.reserve(2);
  c.d->name = c.d->op = "exp";
  c.d->where = {"kernels/demo.cpp", 12};
  c.tensor(DType::f32, {4});
  c.d->operands[0].ref.space = Space::tcm;
  c.d->operands[0].ref.pe = 0;
  c.output(DType::f32, {4});
  Bytes out = evaluate(*c.d, c.in);
  EXPECT_EQ(c.complaint(out), "");
  const float wrong = 100;
  std::memcpy(&out[8], &wrong, 4);
  const std::string text = c.complaint(out);
  for (const char* part :
       {"op 17 (exp)", "kernels/demo.cpp:12", "first at [2]: 100", "tcm 0x1000 of sip0.cube0.pe0", "made by op 4 9"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
}

}  // namespace
}  // namespace kernbench
