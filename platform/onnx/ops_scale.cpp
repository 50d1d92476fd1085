// SPDX-License-Identifier: Apache-2.0
// Ops that scale per channel: quantization, batch norm and its kin.
#include <algorithm>

#include "kernbench/platform/onnx/elementwise.h"
#include "kernbench/platform/onnx/rows.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

// ---- Quantization

int64_t quantized_axis(const Op& op) {
  return op.in(1).elements() == 1 ? 0 : op.axis(op.integer("axis", 1), op.rank());
}

/// Block size along the axis; 0: one scale per element of it, or a single one.
int64_t quantized_block(const Op& op) {
  return op.integer("block_size", 0);
}

/// Checks that each block has one scale.
void check_blocks(const Op& op) {
  const auto axis = static_cast<size_t>(op.axis(op.integer("axis", 1), op.rank()));
  const int64_t block = quantized_block(op);
  Shape expected = op.shape();
  op.require(block > 0 && expected[axis] % block == 0,
             "found block_size of " + std::to_string(block) + " for " + std::to_string(expected[axis]) + " elements");
  expected[axis] /= block;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (op.has(i)) op.require_shape(i, expected);
  }
  op.require_type(1, Takes::floats);
}

void check_scales(const Op& op) {
  if (quantized_block(op) != 0) return check_blocks(op);
  const int64_t n = op.in(1).elements();
  op.require(n == 1 || (op.rank(1) == 1 && n == op.shape()[static_cast<size_t>(quantized_axis(op))]),
             "found scales of shape " + to_string(op.shape(1)));
  op.require_type(1, Takes::floats);
  if (op.has(2)) op.require(op.in(2).elements() == n, "found zero points of another shape than the scales");
}

/// Repeats each block's scale over its elements: the axis is viewed as (block, element in block).
Strides by_blocks(const Op& op, size_t input) {
  Strides s = Strides::dense(op.shape(input));
  const auto axis = op.axis(op.integer("axis", 1), op.rank());
  s.shape.insert(s.shape.begin() + axis + 1, quantized_block(op));
  s.strides.insert(s.strides.begin() + axis + 1, 0);
  return s;
}

std::vector<Strides> scale_views(const Op& op) {
  std::vector<Strides> views{Strides::dense(op.shape())};
  for (size_t i = 1; i < op.inputs.size(); ++i)
    views.push_back(!op.has(i)                 ? Strides()
                    : quantized_block(op) != 0 ? by_blocks(op, i)
                                               : along_axis(op.shape(i), op.shape(), quantized_axis(op)));
  return views;
}

void shape_quantize(Op& op) {
  check_scales(op);
  op.require_type(0, Takes::numbers);
  if (op.has(2)) op.require_type(2, Takes::numbers);
  const auto given = type_of(op.integer("output_dtype", 0));
  const Type type = op.has(2) ? op.in(2).type : given != Type::none ? given : Type::uint8;
  op.require(given == Type::none || given == type, "found output_dtype " + name_of(given) + " beside a zero point");
  op.set_output(0, type, op.shape());
}

Tensor each_quantized(Pe& pe, const Operands& o) {
  const Tensor scaled = pe.cast(o[0], DType::f32) / pe.cast(o[1], DType::f32);
  if (is_float(pe.out_type())) return pe.converted(scaled);
  const Tensor y = pe.tl.round(scaled);
  return pe.cast(pe.op.has(2) ? y + pe.cast(o[2], DType::f32) : y, pe.out_type());
}

void shape_dequantize(Op& op) {
  check_scales(op);
  if (op.has(2)) op.require_same_types(0, 2);
  op.require(type_of(op.integer("output_dtype", static_cast<int64_t>(op.in(1).type))) == op.in(1).type,
             "found an output_dtype, expected its scale's type");
  op.set_output(0, op.in(1).type, op.shape());
}

Tensor each_dequantized(Pe& pe, const Operands& o) {
  const auto exact = [&](const Tensor& t) { return pe.cast(t, is_float(t.dtype()) ? DType::f32 : DType::i32); };
  const Tensor x = exact(o[0]);
  return pe.cast(pe.op.has(2) ? x - exact(o[2]) : x, DType::f32) * pe.cast(o[1], DType::f32);
}

void shape_dynamic_quantize(Op& op) {
  op.require(op.in(0).type == Type::float32, "found " + name_of(op.in(0).type));
  op.set_output(0, Type::uint8, op.shape());
  op.set_output(1, Type::float32, {});
  op.set_output(2, Type::uint8, {});
}

void run_dynamic_quantize(Pe& pe) {
  tl::Context& tl = pe.tl;
  Tensor least, most;
  for (int64_t i = 0; i < pe.op.in(0).elements(); i += kPiece) {
    const int64_t n = std::min(kPiece, pe.op.in(0).elements() - i);
    const Tensor x = tl.load(pe.in(0) + i, {1, n});
    least = tl.minimum(tl.min(x, 1), least.valid() ? tl::Arg(least) : tl::Arg(0.0));
    most = tl.maximum(tl.max(x, 1), most.valid() ? tl::Arg(most) : tl::Arg(0.0));
  }
  const Tensor scale = (most - least) / 255.0;
  const Tensor zero = tl.clamp(tl.round(-least / scale), 0.0, 255.0);
  pe.for_pieces([&](int64_t first, int64_t count) {
    pe.put(0, first, tl.clamp(tl.round(tl.load(pe.in(0) + first, {count}) / scale) + zero, 0.0, 255.0));
  });
  if (tl.index() != 0) return;
  if (pe.op.has_output(1)) pe.put(1, 0, scale);
  if (pe.op.has_output(2)) pe.put(2, 0, zero);
}

// ---- Batch norm and its kin

void shape_batch_norm(Op& op) {
  op.require(op.integer("spatial", 1) != 0, "it norms each element alone (spatial of 0), which is not run");
  op.require(op.integer("training_mode", 0) == 0 && op.integer("is_test", 1) != 0,
             "it is in training; only inference is run");
  op.require(op.rank() >= 2, "found rank " + std::to_string(op.rank()));
  for (size_t i = 0; i < 5; ++i) {
    op.require_type(i, Takes::floats);
    if (i > 0) op.require_shape(i, {op.shape()[1]});
  }
  for (size_t i = 1; i < op.outputs.size(); ++i) op.require(!op.has_output(i), "it is in training: it has statistics");
  like_first(op);
}

std::vector<Strides> batch_norm_views(const Op& op) {
  std::vector<Strides> views{Strides::dense(op.shape())};
  for (size_t i = 1; i < 5; ++i) views.push_back(along_axis(op.shape(i), op.shape(), 1));
  return views;
}

Tensor each_batch_normed(Pe& pe, const Operands& o) {
  const Tensor off = pe.widened(o[0]) - pe.widened(o[3]);
  const Tensor deviation = pe.tl.rsqrt(pe.widened(o[4]) + static_cast<double>(pe.op.real("epsilon", 1e-5f)));
  return off * deviation * pe.widened(o[1]) + pe.widened(o[2]);
}

void shape_lrn(Op& op) {
  op.require_type(0, Takes::floats);
  op.require(op.rank() >= 3, "found rank " + std::to_string(op.rank()));
  op.require(op.integer("size") >= 1 && op.integer("size") <= kPiece, "found size");
  like_first(op);
}

void run_lrn(Pe& pe) {
  const int64_t size = pe.op.integer("size"), channels = pe.op.shape()[1];
  const int64_t image = AxisRows(pe.op.shape(), 1).inner;
  const double alpha = pe.op.real("alpha", 1e-4f), beta = pe.op.real("beta", 0.75f), bias = pe.op.real("bias", 1);
  tl::Context& tl = pe.tl;
  pe.for_pieces(
      [&](int64_t first, int64_t count) {
        std::vector<int64_t> places;
        for (int64_t i = first; i < first + count; ++i) {
          const int64_t c = i / image % channels;
          for (int64_t k = c - (size - 1) / 2; k <= c + size / 2; ++k)
            places.push_back(k < 0 || k >= channels ? -1 : i + (k - c) * image);
        }
        const Tensor near = pe.widened(pe.pick(0, places, {count, size}));
        const Tensor base = tl.sum(near * near, 1) * (alpha / static_cast<double>(size)) + bias;
        const Tensor x = pe.widened(tl.load(pe.in(0) + first, {count}));
        pe.put(0, first, x * tl.exp2(tl.log2(base) * -beta));
      },
      0, std::max<int64_t>(1, kPiece / size));
}

const char* const kByChannel = "MATH on each PE's part; operands along one axis are loaded once a piece, or gathered";
const RegisterOps registered_scales{{
    by_position("QuantizeLinear", 10, shape_quantize, each_quantized, kByChannel,
                "3 axis block_size output_dtype saturate", scale_views),
    by_position("DequantizeLinear", 10, shape_dequantize, each_dequantized, kByChannel,
                "3 axis block_size output_dtype", scale_views),
    {"DynamicQuantizeLinear", 11, shape_dynamic_quantize, run_dynamic_quantize,
     "MATH: each PE scans all elements for the range, then quantizes its part", "1"},
    by_position("BatchNormalization", 7, shape_batch_norm, each_batch_normed, kByChannel,
                "5 epsilon is_test<7 momentum spatial<9 training_mode", batch_norm_views),
    {"LRN", 1, shape_lrn, run_lrn, "MATH: each PE gathers its outputs' neighbours", "1 alpha beta bias size"},
}};

}  // namespace
}  // namespace kernbench::onnx
