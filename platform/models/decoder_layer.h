// One layer of a decoder as launches on a program's ranks, in prefill and in decode: what is the same in both is said
// once, and how a phase lays its operands out and multiplies stands in its Way.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernbench/platform/host/tensor_parallel.h"

namespace kernbench::models {

/// Of the whole layer; `ranks` share out its heads and the width of its MLP.
struct LayerSizes {
  int64_t rows = 0;  ///< of the residual stream: tokens, or sequences
  int64_t dim = 0, heads = 0, kv_heads = 0, head_dim = 0, hidden = 0;
  double eps = 1e-5;
  std::string activation = "silu";
  int64_t window = 0;
  bool qk_norm = false;  ///< heads of q and k are normed
  int64_t splits = 1;    ///< in a decode: ranges that a sequence's keys are cut into
  int64_t ranks = 1;
  int64_t width() const { return heads * head_dim; }
  int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// Of a matrix whose columns, or rows, so many ranks share out.
inline host::LayoutLevel columns_over(int64_t ranks) {
  return ranks > 1 ? host::shard(1) : host::replicate();
}
inline host::LayoutLevel rows_over(int64_t ranks) {
  return ranks > 1 ? host::shard(0) : host::replicate();
}

/// Without places where the layer has none. Columns of qkv stand as kernels/heads.h says, of one part a rank.
struct LayerWeights {
  host::Tensor norm1, norm2, qkv, o, gate, up, down;
  host::Tensor bias;  ///< of qkv
  host::Tensor q_norm, k_norm;
};

/// How a layer's operands lie in a phase; over ranks as columns_over() and rows_over() say.
struct Way {
  bool prefill = true;
  std::vector<uint32_t> ranks = {};  ///< that have the layer; empty: all
  host::Layout weights(host::LayoutLevel rank = {}) const;
  /// What is multiplied with weights, and what comes of it.
  host::Layout operand(host::LayoutLevel rank = {}) const;
  host::Layout rows(host::LayoutLevel rank = {}) const { return host::rows_of_pes().over_ranks(rank).on(ranks); }
  host::Layout stream() const { return prefill ? rows() : operand(); }
  /// Of a prefill's q, k and v, where heads of a cube's rows are with its PEs: attention's keys come from all cubes.
  host::Layout heads(host::LayoutLevel rank = {}) const;
  /// Of cos and sin. In a prefill: where heads() has rows.
  host::Layout positions() const;
};

/// The cache of a layer, as flash_decode has it.
struct Cache {
  host::Tensor k, v;
  int64_t context = 0;  ///< keys of each sequence that are there
};

/// A tensor that a layer makes for itself, and has until its end.
struct Temporary {
  std::string name;
  Dims shape;
  DType dtype;
  host::Layout layout;
};
/// All of them, on PEs at these places: what DecoderLayer makes, and what a layer takes of HBM beside x and y.
std::vector<Temporary> temporaries_of(const LayerSizes&, const Way&, DType, const std::vector<host::LayoutPlace>&,
                                      const host::LayoutGrids&);

class DecoderLayer {
 public:
  /// `part` is told the name of what is enqueued next; may be empty.
  DecoderLayer(host::Context&, const LayerSizes&, const Way&, std::function<void(const char*)> part = {});

  /// y = the layer of x, both in Way::stream(); cos and sin [rows, head_dim / 2] in Way::positions(). A prefill's
  /// queries see the keys of x; in a decode each row is the next token of a sequence whose keys are in the cache.
  void prefill(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const host::Tensor& cos,
               const host::Tensor& sin);
  void decode(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const host::Tensor& cos,
              const host::Tensor& sin, const Cache&);

 private:
  using Tensors = std::map<std::string, host::Tensor>;  ///< by a kernel's names
  /// The temporary of that name.
  host::Tensor made(const std::string& name);
  /// x as the temporary of that name lies; x itself where there is none.
  host::Tensor laid_out(const host::Tensor& x, const std::string& name);
  /// To gemm_2d's operand `name`_operand, by way of `name`.
  host::Tensor normed(const host::Tensor& x, const host::Tensor& w, const std::string& name);
  /// activation(x · w) as the temporary `name`, the ranks sharing out the columns of w.
  host::Tensor by_columns(const host::Tensor& x, const host::Tensor& w, const std::string& name,
                          const char* activation = "none");
  /// x · w as the temporary `name`_sum, the ranks sharing out the rows of w and the columns of x; `name` has their
  /// parts, which are summed up on all of them.
  host::Tensor by_rows(const host::Tensor& x, const host::Tensor& w, const std::string& name);
  /// A decode's products, by decode_linear.
  void linear(const Tensors&, const char* activation = "none");
  void turned(const host::Tensor& qkv, const host::Tensor& cos, const host::Tensor& sin);
  void attend_to_cache(const host::Tensor& qkv, const host::Tensor& o, const host::Tensor& cos, const host::Tensor& sin,
                       const Cache&);
  void head_norm(const host::Tensor& qkv, const LayerWeights&);
  void elementwise(const char* op, const host::Tensor& x, const host::Tensor& y, const host::Tensor& z);
  const Temporary* temporary(const std::string& name) const;
  host::KernelParams heads() const;
  void part(const char* name) const {
    if (part_) part_(name);
  }

  host::Context& h_;
  const LayerSizes s_;
  const Way way_;
  const host::On on_;
  const std::vector<Temporary> temporaries_;
  const std::function<void(const char*)> part_;
};

}  // namespace kernbench::models
