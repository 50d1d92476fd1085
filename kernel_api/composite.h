// SPDX-License-Identifier: Apache-2.0
// Composite commands: a GEMM or an elementwise op. The PE's scheduler splits it into tiles and pipelines the tiles
// through the engines; further ops can be fused after it (timing rules §6).
//
//   auto c = tl.composite(tl::gemm(tl.ref(a, {m, k}), tl.ref(b, {k, n}))
//                             .tiles(32, 32, 64)
//                             .then("add", {bias})                       // bias: a Tensor, [n]
//                             .then("relu")
//                             .out(tl.ref(c, {m, n})));
//   tl.wait(c);
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/pointer.h"
#include "kernbench/kernel_api/tensor.h"

namespace kernbench::tl {

/// An input of a composite: a block in memory (read tile by tile; the complete block is never in TCM), a Tensor (pinned
/// in TCM, without DMA), or an immediate (only for elementwise heads).
class CompositeArg {
 public:
  CompositeArg(const Block& block) : block_(block), kind_(Kind::block) {}  // NOLINT: implicit
  CompositeArg(const Tensor& t) : arg_(t), kind_(Kind::tensor) {}          // NOLINT: implicit
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  CompositeArg(T immediate) : arg_(immediate), kind_(Kind::immediate) {}  // NOLINT: implicit

  bool is_block() const { return kind_ == Kind::block; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  const Block& block() const { return block_; }
  const Arg& arg() const { return arg_; }
  Dims shape() const;
  std::string to_string() const;

 private:
  enum class Kind { block, tensor, immediate };
  Block block_;
  Arg arg_ = Arg(0);
  Kind kind_;
};

/// Describes a composite until tl.composite submits it. Made by gemm() and elementwise().
class Composite {
 public:
  /// Tile sizes, clipped to the shape; only a GEMM uses tk. Default: 32, 32, 64.
  Composite& tiles(int64_t tm, int64_t tn, int64_t tk = 64);
  /// A is given as [k, m], B as [n, k].
  Composite& transpose_a(bool on = true);
  Composite& transpose_b(bool on = true);
  /// Destination of the result: a block in memory. Default: a new Tensor in TCM.
  Composite& out(const Block& block);
  /// Type of a result in TCM. Default: a GEMM's accumulator type, or the type of an elementwise op.
  Composite& out_dtype(DType t);
  /// Fuses an elementwise op after the head. Its first operand is the running tile; `more` are the others (Tensors in
  /// TCM that broadcast over [m, n], or immediates). per_k_tile applies it to the accumulator after each k step,
  /// per_output_tile to each finished tile, once only to the last output tile.
  Composite& then(const std::string& op, std::initializer_list<Arg> more = {}, Scope scope = Scope::per_output_tile);

 private:
  friend class CompositeBuilder;
  friend Composite gemm(const CompositeArg& a, const CompositeArg& b);
  friend Composite elementwise(const std::string& op, std::initializer_list<CompositeArg> inputs);
  struct Fused {
    std::string op;
    Scope scope;
    std::vector<Arg> more;
  };
  std::string op_;
  std::vector<CompositeArg> inputs_;
  std::vector<Fused> fused_;
  std::optional<Block> out_;
  std::optional<DType> out_dtype_;
  int64_t tile_m_ = 32, tile_n_ = 32, tile_k_ = 64;
  bool transpose_a_ = false, transpose_b_ = false;
};

/// C[m, n] = A[m, k] · B[k, n].
Composite gemm(const CompositeArg& a, const CompositeArg& b);
/// An elementwise op (see docs/kernels.md) over inputs of one shape, [m, n] or [n].
Composite elementwise(const std::string& op, std::initializer_list<CompositeArg> inputs);

}  // namespace kernbench::tl
