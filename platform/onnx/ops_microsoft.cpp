// SPDX-License-Identifier: Apache-2.0
// onnxruntime's own products: with transposed operands, and with weights of a few bits.
#include <algorithm>

#include "kernbench/platform/onnx/tiles.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

// ---- FusedMatMul: alpha · A · B

/// A or B as matrices [rows, columns] for each batch, as the product reads them.
struct Factor {
  Factor(const Op& op, size_t i, bool transposed, bool from_behind) : matrix{i, 0, 1, 1, false, 0} {
    Shape s = op.shape(i);
    op.require(!s.empty(), "found a scalar");
    if (s.size() == 1) {  // a row or a column vector, not transposed
      matrix.rows = i == 0 ? 1 : s[0];
      matrix.columns = i == 0 ? s[0] : 1;
      return;
    }
    op.require(!from_behind || s.size() > 2, "found no batches to transpose in " + to_string(s));
    Shape strides = row_major_strides(s);
    const size_t rows = from_behind ? 0 : s.size() - 2;
    matrix.rows = s[rows];
    matrix.columns = s.back();
    matrix.pitch = strides[rows];
    matrix.transposed = transposed;
    for (size_t d = 0; d + 1 < s.size(); ++d) {
      if (d == rows) continue;
      batches.push_back(s[d]);
      batch_strides.push_back(strides[d]);
    }
  }
  int64_t rows() const { return matrix.transposed ? matrix.columns : matrix.rows; }
  int64_t columns() const { return matrix.transposed ? matrix.rows : matrix.columns; }
  Matrix at(int64_t batch, const Shape& of) const {
    Strides view = Strides::broadcast(batches, of);
    const size_t before = of.size() - batches.size();
    for (size_t d = 0; d < batches.size(); ++d) view.strides[before + d] = batches[d] == 1 ? 0 : batch_strides[d];
    Matrix m = matrix;
    m.first = view.at(batch);
    return m;
  }
  Matrix matrix;
  Shape batches, batch_strides;
};

struct FusedProduct {
  explicit FusedProduct(const Op& op)
      : a(op, 0, op.integer("transA", 0) != 0, op.integer("transBatchA", 0) != 0),
        b(op, 1, op.integer("transB", 0) != 0, op.integer("transBatchB", 0) != 0),
        batches(broadcast({a.batches, b.batches})) {
    op.require(a.columns() == b.rows(), "found " + to_string(op.shape(0)) + " times " + to_string(op.shape(1)));
  }
  Factor a, b;
  Shape batches;
};

void shape_fused_matmul(Op& op) {
  op.require_type(0, Takes::floats);
  op.require_same_types(0, 1);
  op.real("alpha", 1);
  const FusedProduct p(op);
  Shape to = p.batches;
  if (op.rank(0) > 1) to.push_back(p.a.rows());
  if (op.rank(1) > 1) to.push_back(p.b.columns());
  op.set_output(0, op.in(0).type, to);
}

void run_fused_matmul(Pe& pe) {
  const FusedProduct p(pe.op);
  const int64_t m = p.a.rows(), n = p.b.columns();
  const double alpha = pe.op.real("alpha", 1);
  for_tiles(pe, elements_of(p.batches), m, n, [&](int64_t batch, int64_t i, int64_t ni, int64_t j, int64_t nj) {
    const Matrix a = p.a.at(batch, p.batches), b = p.b.at(batch, p.batches);
    const Tensor sum = product(
        pe, p.a.columns(), [&](int64_t k, int64_t nk) { return a.tile(pe, i, ni, k, nk); },
        [&](int64_t k, int64_t nk) { return b.tile(pe, k, nk, j, nj); });
    put_tile(pe, batch * m * n, n, i, j, alpha == 1 ? sum : sum * alpha);
  });
}

double macs_of_fused_matmul(const Op& op) {
  const FusedProduct p(op);
  return static_cast<double>(op.out().elements()) * static_cast<double>(p.a.columns());
}

// ---- MatMulNBits: A · Bᵀ, B [columns, k] in blocks of k that have a scale and a zero point each

struct NBits {
  explicit NBits(const Op& op)
      : n(op.integer("N")), k(op.integer("K")), bits(op.integer("bits", 4)), block(op.integer("block_size")) {
    op.require(n > 0 && k > 0 && k < kMostElements && n < kMostElements, "found N or K below 1");
    op.require(bits == 2 || bits == 4 || bits == 8, "found " + std::to_string(bits) + " bits, expected 2, 4 or 8");
    op.require(block >= 16 && block <= kPiece && (block & (block - 1)) == 0,
               "found block_size of " + std::to_string(block) + ", expected a power of 2 from 16 on");
  }
  int64_t blocks() const { return tl::Context::cdiv(k, block); }
  int64_t packed(int64_t values) const { return tl::Context::cdiv(values * bits, 8); }  ///< their bytes
  int64_t n, k, bits, block;
};

void shape_nbits(Op& op) {
  op.require_type(0, Takes::floats);
  const NBits s(op);
  op.require(op.rank() > 0 && op.shape().back() == s.k,
             "found " + to_string(op.shape()) + " times K of " + std::to_string(s.k));
  const auto is = [&](size_t i, int64_t columns) {
    const Shape& found = op.shape(i);
    op.require(
        found == Shape{s.n, columns} || found == Shape{s.n * columns},
        "input " + std::to_string(i) + " is of shape " + to_string(found) + ", expected " + to_string({s.n, columns}));
  };
  op.require(op.in(1).type == Type::uint8, "its weights are of " + name_of(op.in(1).type));
  op.require_shape(1, {s.n, s.blocks(), s.packed(s.block)});
  op.require_type(2, Takes::floats);
  is(2, s.blocks());
  if (op.has(3)) {
    op.require(op.in(3).type == Type::uint8 || op.in(3).type == op.in(0).type,
               "its zero points are of " + name_of(op.in(3).type));
    is(3, op.in(3).type == Type::uint8 ? s.packed(s.blocks()) : s.blocks());
  }
  op.require(!op.has(4), "it has a g_idx, which is not run");
  if (op.has(5)) {
    op.require_same_types(0, 5);
    op.require_shape(5, {s.n});
  }
  Shape to = op.shape();
  to.back() = s.n;
  op.set_output(0, op.in(0).type, to);
}

/// Unpacks values of this many bits, lowest first, from rows of bytes.
Tensor unpacked(Pe& pe, const Tensor& bytes, int64_t bits) {
  if (bits == 8) return bytes;
  tl::Context& tl = pe.tl;
  const auto part = [&](int64_t n) {
    const Tensor down = n == 0 ? bytes : tl.shift_right(bytes, n * bits);
    return tl.bitwise_and(down, (1 << bits) - 1);
  };
  if (bits == 4) return tl.interleave(part(0), part(1));
  return tl.interleave(tl.interleave(part(0), part(2)), tl.interleave(part(1), part(3)));
}

/// Numbers [first, first + count) of some packed rows, each `rows` bytes long.
Tensor packed_numbers(Pe& pe, size_t input, const NBits& s, int64_t row, int64_t rows, int64_t pitch, int64_t first,
                      int64_t count) {
  const int64_t from = first * s.bits / 8, bytes = s.packed(first + count) - from;
  const Tensor all =
      unpacked(pe, pe.tl.load_async((pe.in(input) + row * pitch + from).block({rows, bytes}, pitch)), s.bits);
  return all.dim(1) == count ? all : pe.tl.copy(all.slice(1, first - from * 8 / s.bits, count));
}

/// B's columns [first, first + count) of rows [row, row + rows), as numbers.
Tensor weights(Pe& pe, const NBits& s, int64_t row, int64_t rows, int64_t first, int64_t count) {
  const int64_t block = first / s.block, blocks = tl::Context::cdiv(first + count, s.block) - block;
  const int64_t begin = std::max(first, block * s.block);
  const int64_t all = blocks == 1 ? count : blocks * s.block;  // whole blocks; of a single block only the part needed
  const int64_t of_block = all / blocks;
  const auto of_blocks = [&](size_t i) {
    return pe.widened(pe.tl.load_async((pe.in(i) + row * s.blocks() + block).block({rows, blocks}, s.blocks())));
  };
  const Tensor scale = of_blocks(2).reshape({rows, blocks, 1});
  Tensor x = pe.cast(packed_numbers(pe, 1, s, row, rows, s.blocks() * s.packed(s.block), begin, all), DType::f32)
                 .reshape({rows, blocks, of_block});
  if (!pe.op.has(3)) {
    x = x - static_cast<double>(int64_t{1} << (s.bits - 1));
  } else {
    const bool words = pe.op.in(3).type == Type::uint8;
    const Tensor zero =
        words ? pe.cast(packed_numbers(pe, 3, s, row, rows, s.packed(s.blocks()), block, blocks), DType::f32)
              : of_blocks(3);
    x = x - zero.reshape({rows, blocks, 1});
  }
  x = pe.cast(x * scale, pe.op.in(0).dtype()).reshape({rows, all});
  return all == count ? x : x.slice(1, 0, count);
}

void run_nbits(Pe& pe) {
  const NBits s(pe.op);
  const int64_t m = pe.op.out().elements() / s.n;
  const Matrix a{0, 0, m, s.k};
  for_tiles(pe, 1, m, s.n, [&](int64_t, int64_t i, int64_t ni, int64_t j, int64_t nj) {
    Tensor y = product(
        pe, s.k, [&](int64_t k, int64_t nk) { return a.tile(pe, i, ni, k, nk); },
        [&](int64_t k, int64_t nk) { return weights(pe, s, j, nj, k, nk).transpose(); });
    if (pe.op.has(5)) y = y + pe.widened(pe.tl.load(pe.in(5) + j, {1, nj}));
    put_tile(pe, 0, s.n, i, j, y);
  });
}

double macs_of_nbits(const Op& op) {
  return static_cast<double>(op.out().elements()) * static_cast<double>(op.integer("K"));
}

OpRow of_microsoft(OpRow row) {
  row.domain = kMicrosoft;
  return row;
}

const RegisterOps registered_microsoft{{
    of_microsoft(tiled("FusedMatMul", 1, shape_fused_matmul, run_fused_matmul, macs_of_fused_matmul,
                       "GEMM: tiles, distributed over PEs round robin",
                       "2 alpha transA transB transBatchA transBatchB")),
    of_microsoft(tiled("MatMulNBits", 1, shape_nbits, run_nbits, macs_of_nbits,
                       "GEMM: tiles, distributed over PEs round robin; MATH unpacks the weights",
                       "6 K N accuracy_level bits block_size")),
}};

}  // namespace
}  // namespace kernbench::onnx
