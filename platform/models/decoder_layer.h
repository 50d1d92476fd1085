// SPDX-License-Identifier: Apache-2.0
// One layer of a decoder as launches on a program's ranks, in prefill and decode. The code is shared by both phases; a
// phase's layouts and choice of product kernels are in its Way.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernbench/platform/host/tensor_parallel.h"

namespace kernbench::models {

/// Sizes of the whole layer. The `ranks` split its heads and the width of its MLP.
struct LayerSizes {
  int64_t rows = 0;  ///< rows of the residual stream: tokens, or sequences
  int64_t dim = 0, heads = 0, kv_heads = 0, head_dim = 0, hidden = 0;
  double eps = 1e-5;
  std::string activation = "silu";
  double activation_limit = 7;  ///< for swiglu_oai, which only layers with experts have
  int64_t window = 0;
  bool qk_norm = false;       ///< heads of q and k are normed
  int64_t rotary = 0;         ///< leading elements of a head that are rotated; 0: all
  bool gated = true;          ///< MLP: activation(gate · x) ⊙ up · x; else activation(up · x)
  bool layer_norm = false;    ///< layer norm instead of rmsnorm
  bool parallel = false;      ///< the MLP's input is x, not x + attention
  bool one_norm = false;      ///< the MLP uses attention's norm of the same rows
  bool post_norms = false;    ///< outputs of attention and MLP are normed before they are added
  double residual_scale = 1;  ///< factor of values added to the residual stream
  double score_scale = 0;     ///< factor of scores; 0: 1 / √head_dim
  double score_softcap = 0;   ///< soft cap of the scaled scores; 0: none
  bool integer_rows = false;  ///< rows are quantized to i8 before each product
  int64_t sequences = 0;      ///< the last rows: the next token of each of these sequences, whose keys are cached
  int64_t splits = 1;         ///< key ranges per sequence (split-KV)
  int64_t ranks = 1;
  int64_t experts = 0, per_token = 0;  ///< 0: no experts, one MLP; `hidden` is the width of one expert
  int64_t groups = 1;                  ///< expert-parallel groups of ranks
  std::vector<int64_t> expert_order;   ///< order of the experts over the groups; empty: by number
  bool weights_of_chosen = true;       ///< softmax over the chosen experts' logits, not over all
  int64_t prompt() const { return rows - sequences; }
  int64_t turned() const { return rotary > 0 ? rotary : head_dim; }  ///< rotated elements of a head
  int64_t width() const { return heads * head_dim; }
  int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// Layout of a matrix whose columns or rows are split over this many ranks, in units of this many.
inline host::LayoutLevel columns_over(int64_t ranks, int64_t unit = 1) {
  return ranks > 1 ? host::shard(1, unit) : host::replicate();
}
inline host::LayoutLevel rows_over(int64_t ranks, int64_t unit = 1) {
  return ranks > 1 ? host::shard(0, unit) : host::replicate();
}

/// down · (activation(gate · x) ⊙ up · x), or the form without a gate.
struct MlpWeights {
  host::Weights gate, up, down;
  host::Tensor gate_bias = {}, up_bias = {}, down_bias = {};  ///< one per matrix, or none
};

/// Tensors that the layer lacks have no place. Columns of qkv are ordered as kernels/heads.h describes, one part per
/// rank.
struct LayerWeights {
  host::Tensor norm1, norm2;
  host::Tensor norm1_bias, norm2_bias;  ///< of layer norms; absent: rmsnorm
  host::Tensor post_norm1, post_norm2;  ///< after o and after the MLP
  host::Weights qkv, o;
  MlpWeights mlp;
  host::Tensor bias;    ///< of qkv
  host::Tensor o_bias;  ///< [dim]
  host::Tensor sinks;   ///< [heads], as gqa_attention takes them
  host::Tensor q_norm, k_norm;
  host::Tensor router;              ///< [dim, experts]
  host::Tensor router_bias;         ///< [experts]
  std::vector<MlpWeights> experts;  ///< instead of the MLP; each on the ranks of its group
};

/// Where the rows' choices of experts come from.
struct Routing {
  host::Tensor given;                             ///< [rows, per_token], given choices; without a place: chosen by the
                                                  ///< logits
  std::function<void(const HostTensor&)> told{};  ///< receives the choices; may be empty
};

/// Layouts of a layer's operands in a phase; over ranks as columns_over() and rows_over() give them.
struct Way {
  bool prefill = true;
  std::vector<uint32_t> ranks = {};  ///< ranks that hold the layer; empty: all
  int64_t unit = 1;                  ///< columns of a product that stay together: values per element of weights
  /// Layout of weights with this many columns per element.
  host::Layout weights(host::LayoutLevel rank = {}, int64_t columns = 1) const;
  /// Layout of operands of products with weights, and of their results.
  host::Layout operand(host::LayoutLevel rank = {}) const;
  host::Layout rows(host::LayoutLevel rank = {}) const { return host::rows_of_pes().over_ranks(rank).on(ranks); }
  host::Layout stream() const { return prefill ? rows() : operand(); }
  /// Layout of a prefill's q, k and v: heads of a cube's rows lie with its PEs. Attention reads keys from all cubes.
  host::Layout heads(host::LayoutLevel rank = {}) const;
  /// Layout of cos and sin. In a prefill: where heads() has the rows.
  host::Layout positions() const;
};

/// A layer's KV cache, in flash_decode's layout.
struct Cache {
  host::Tensor k, v;
  int64_t context = 0;            ///< cached keys of each sequence
  host::Tensor k_scale, v_scale;  ///< one per head, if the cache is i8
  host::Tensor table;             ///< page table if the cache is paged; k and v are then the pool of pages
  int64_t keys = 0;               ///< capacity of one key range of a sequence
};

/// A temporary tensor of the layer, freed at its end.
struct Temporary {
  std::string name;
  Dims shape;
  DType dtype;
  host::Layout layout;
};
/// Prefill rows that pass the MLP in consecutive chunks, so that one chunk's sums over the ranks overlap the next
/// chunk's computation.
struct Chunk {
  int64_t first = 0, count = 0;
  int64_t number = -1;  ///< -1: the only chunk
  std::string name(const std::string& of) const { return number < 0 ? of : of + "." + std::to_string(number); }
};
/// Two chunks if ranks split the layer and each PE has enough rows, else one.
std::vector<Chunk> chunks_of(const LayerSizes&, const Way&, const std::vector<host::LayoutPlace>&);

/// Whether each rank owns columns of what attention adds to the stream, so that reduction and gather overlap products.
bool is_shared_by_columns(const LayerSizes&, const Way&, const std::vector<host::LayoutPlace>&);

/// All temporaries, on PEs at these positions. Capacity uses the same list for a layer's HBM beside x and y.
std::vector<Temporary> temporaries_of(const LayerSizes&, const Way&, DType, const std::vector<host::LayoutPlace>&,
                                      const host::LayoutGrids&);

class DecoderLayer {
 public:
  /// `part` receives the name of the next enqueued part; may be empty.
  DecoderLayer(host::Context&, const LayerSizes&, const Way&, std::function<void(const char*)> part = {});

  /// The fraction of a prefill's sums over the ranks that overlaps products: the first chunk of one sum, the second of
  /// the other.
  double sums_beside() const { return by_columns_ ? 1 : chunks_.size() > 1 ? 0.5 : 0; }

  /// Must be called before run() if the layer has experts.
  void route_by(Routing r) { routing_ = std::move(r); }

  /// y = layer(x), both in Way::stream(); cos and sin [rows, head_dim / 2] in Way::positions(). A prompt's queries see
  /// the keys of x. In a decode, each row is the next token of a sequence with cached keys; in a prefill the last rows
  /// may be such tokens.
  void prefill(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const host::Tensor& cos,
               const host::Tensor& sin, const Cache& = {});
  void decode(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const host::Tensor& cos,
              const host::Tensor& sin, const Cache&);

 private:
  using Tensors = std::map<std::string, host::Tensor>;  ///< by the kernels' names
  /// The temporary with that name.
  host::Tensor made(const std::string& name);
  /// x in the layout of the temporary with that name; x itself if there is none.
  host::Tensor laid_out(const host::Tensor& x, const std::string& name);
  void norm(const host::Tensor& x, const host::Tensor& w, const host::Tensor& b, const host::Tensor& y);
  host::Rows laid_out(const host::Rows&, const std::string& name);
  /// The temporaries for the quantized rows of that name, and their scales; none if the layer does not quantize.
  host::Rows integers(const std::string& name);
  /// x quantized into them; x itself if the layer does not quantize.
  host::Rows in_steps(const host::Tensor& x, const host::Rows& to);
  /// A product of which each rank has one summand, and its sum. With one rank both are the same tensor.
  struct Summed {
    host::Tensor product, sum;
  };
  Summed summed(const std::string& name);
  host::Tensor rows(const host::Tensor&, const Chunk&) const;
  host::Rows rows(const host::Rows&, const Chunk&) const;
  /// The sum of a chunk's rows, or a share of it; none with one rank.
  host::SumBeside sum_of(const Summed&, const Chunk&, int64_t turn = 0, int64_t turns = 1) const;
  /// As a separate launch.
  void add_up(const host::SumBeside&);
  /// Everything after attention, if is_shared_by_columns().
  void rest_by_columns(const host::Tensor& heads, const host::Tensor& x, const host::Tensor& y, const LayerWeights&);
  void attend(const host::Tensor& qkv, const host::Tensor& o, const host::Tensor& sinks);
  /// y = x + the output of o or the MLP, with its bias, norm or scale if the layer has one.
  void add_product(const host::Tensor& x, const host::Tensor& product, const host::Tensor& bias,
                   const host::Tensor& post_norm, const host::Tensor& y);
  /// Number of launches for an MLP's products.
  int64_t products_of_mlp() const { return s_.gated ? 3 : 2; }
  /// y = MLP of a chunk's normed rows, laid out as an operand, without down's bias. sum(0), sum(1), … overlap its
  /// products.
  void mlp(const host::Rows& x, const LayerWeights&, const host::Tensor& y, const Chunk&,
           const std::function<host::SumBeside(int64_t)>& sum, const host::Tensor& residual = {});
  /// y = activation(x · w + bias), in a prefill.
  void activated(const host::Rows& x, const host::Weights& w, const host::Tensor& bias, const host::Tensor& y,
                 const host::SumBeside&, const host::OverRanks& = {});
  void add_bias(const host::Tensor& x, const host::Tensor& b, const std::string& activation = "none");
  /// A decode's product, by decode_linear.
  void linear(Tensors, const host::Weights& w, const char* activation = "none", const host::Weights& up = {});
  void turned(const host::Tensor& qkv, const host::Tensor& cos, const host::Tensor& sin);
  /// y = residual + product, normed first if the layer has such a norm; in a decode. `name`: prefix of its temporaries.
  void add_linear(const std::string& name, Tensors, const host::Tensor& residual, const host::Weights& w,
                  const host::Tensor& post_norm, const host::Tensor& y);
  /// `turns`: cos and sin if heads still have to be rotated.
  void attend_to_cache(const host::Tensor& qkv, const host::Tensor& o, const Tensors& turns, const Cache&,
                       const host::Tensor& sinks);
  /// Replaces the MLP.
  void experts(const host::Tensor& x, const host::Tensor& y, const LayerWeights&);
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
  const std::vector<Chunk> chunks_;
  const bool by_columns_;
  const std::function<void(const char*)> part_;
  Routing routing_;
};

}  // namespace kernbench::models
