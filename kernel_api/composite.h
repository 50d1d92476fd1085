// Composite commands: a GEMM or an elementwise op that the PE's scheduler cuts into tiles and pipelines through the
// engines, with ops fused behind it (timing contract §6).
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

/// What a composite reads: a block in memory (read tile by tile, never wholly in TCM), a Tensor (pinned in TCM, no
/// DMA), or an immediate (elementwise heads only).
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
  /// Tile sizes, cut to the shape; tk counts for a GEMM only. Default: 32, 32, 64.
  Composite& tiles(int64_t tm, int64_t tn, int64_t tk = 64);
  /// A is given as [k, m], B as [n, k].
  Composite& transpose_a(bool on = true);
  Composite& transpose_b(bool on = true);
  /// Where the result goes: a block in memory. Without it, a new Tensor in TCM.
  Composite& out(const Block& block);
  /// Result type of a TCM result; default: a GEMM's accumulator type, an elementwise op's own.
  Composite& out_dtype(DType t);
  /// Fuses an elementwise op behind the head: its first operand is the running tile, `more` the others (Tensors in TCM
  /// that broadcast over [m, n], or immediates). per_k_tile works on the accumulator after each k step,
  /// per_output_tile on every finished tile, once on the last output tile only.
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
