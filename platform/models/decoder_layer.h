// SPDX-License-Identifier: Apache-2.0
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
  double activation_limit = 7;  ///< of swiglu_oai, which layers with experts alone have
  int64_t window = 0;
  bool qk_norm = false;       ///< heads of q and k are normed
  int64_t rotary = 0;         ///< elements of a head that are turned, its first ones; 0: all
  bool gated = true;          ///< the MLP: activation(gate · x) ⊙ up · x; else activation(up · x)
  bool layer_norm = false;    ///< its norms, not rmsnorm
  bool parallel = false;      ///< the MLP works on x, not on x and attention
  bool one_norm = false;      ///< its norm is attention's, of the same rows
  bool post_norms = false;    ///< what attention and the MLP come to is normed before it is added
  double residual_scale = 1;  ///< of what is added to the residual stream
  double score_scale = 0;     ///< of scores; 0: 1 / √head_dim
  double score_softcap = 0;   ///< of them then; 0: none
  bool integer_rows = false;  ///< rows are made integers of 8 bits before each product
  int64_t sequences = 0;      ///< the last rows: the next tokens of as many sequences, whose keys are in the cache
  int64_t splits = 1;         ///< ranges that a sequence's keys are cut into
  int64_t ranks = 1;
  int64_t experts = 0, per_token = 0;  ///< 0: none, one MLP; `hidden` is the width of one
  int64_t groups = 1;                  ///< of ranks, that share out the experts
  bool weights_of_chosen = true;       ///< of experts: the softmax is of the chosen ones' logits, not of all
  int64_t prompt() const { return rows - sequences; }
  int64_t turned() const { return rotary > 0 ? rotary : head_dim; }  ///< of a head
  int64_t width() const { return heads * head_dim; }
  int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// Of a matrix whose columns, or rows, so many ranks share out, by units of so many.
inline host::LayoutLevel columns_over(int64_t ranks, int64_t unit = 1) {
  return ranks > 1 ? host::shard(1, unit) : host::replicate();
}
inline host::LayoutLevel rows_over(int64_t ranks, int64_t unit = 1) {
  return ranks > 1 ? host::shard(0, unit) : host::replicate();
}

/// down · (activation(gate · x) ⊙ up · x), or without a gate.
struct MlpWeights {
  host::Weights gate, up, down;
  host::Tensor gate_bias = {}, up_bias = {}, down_bias = {};  ///< of each matrix, or of none
};

/// Without places where the layer has none. Columns of qkv stand as kernels/heads.h says, of one part a rank.
struct LayerWeights {
  host::Tensor norm1, norm2;
  host::Tensor norm1_bias, norm2_bias;  ///< of layer norms; without: rmsnorm
  host::Tensor post_norm1, post_norm2;  ///< behind o and the MLP
  host::Weights qkv, o;
  MlpWeights mlp;
  host::Tensor bias;    ///< of qkv
  host::Tensor o_bias;  ///< [dim]
  host::Tensor sinks;   ///< [heads], as gqa_attention has them
  host::Tensor q_norm, k_norm;
  host::Tensor router;              ///< [dim, experts]
  host::Tensor router_bias;         ///< [experts]
  std::vector<MlpWeights> experts;  ///< in place of the MLP; each on the ranks of its group
};

/// Whom the rows choose among experts.
struct Routing {
  host::Tensor given;                             ///< [rows, per_token], by rows; without places: by the logits
  std::function<void(const HostTensor&)> told{};  ///< what they have chosen; may be empty
};

/// How a layer's operands lie in a phase; over ranks as columns_over() and rows_over() say.
struct Way {
  bool prefill = true;
  std::vector<uint32_t> ranks = {};  ///< that have the layer; empty: all
  int64_t unit = 1;                  ///< columns of products stay together: as many as an element of weights has
  /// Of weights that have so many columns an element.
  host::Layout weights(host::LayoutLevel rank = {}, int64_t columns = 1) const;
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
  int64_t context = 0;            ///< keys of each sequence that are there
  host::Tensor k_scale, v_scale;  ///< one a head, of a cache in i8
  host::Tensor table;             ///< of a cache in pages, which k and v then are, a pool of them
  int64_t keys = 0;               ///< room of a range of a sequence's keys
};

/// A tensor that a layer makes for itself, and has until its end.
struct Temporary {
  std::string name;
  Dims shape;
  DType dtype;
  host::Layout layout;
};
/// Rows of a prefill that go through the MLP one behind the other, so that the sums over the ranks of one go beside
/// what is computed of the other.
struct Chunk {
  int64_t first = 0, count = 0;
  int64_t number = -1;  ///< -1: the only one
  std::string name(const std::string& of) const { return number < 0 ? of : of + "." + std::to_string(number); }
};
/// Two where ranks share the layer out and each PE has rows enough, else one.
std::vector<Chunk> chunks_of(const LayerSizes&, const Way&, const std::vector<host::LayoutPlace>&);

/// Whether ranks share out the columns of what attention adds to the stream, and so add up and gather beside products.
bool is_shared_by_columns(const LayerSizes&, const Way&, const std::vector<host::LayoutPlace>&);

/// All of them, on PEs at these places: what DecoderLayer makes, and what a layer takes of HBM beside x and y.
std::vector<Temporary> temporaries_of(const LayerSizes&, const Way&, DType, const std::vector<host::LayoutPlace>&,
                                      const host::LayoutGrids&);

class DecoderLayer {
 public:
  /// `part` is told the name of what is enqueued next; may be empty.
  DecoderLayer(host::Context&, const LayerSizes&, const Way&, std::function<void(const char*)> part = {});

  /// Of what a prefill adds up over the ranks, the share that goes beside products: of one sum the first chunk, of the
  /// other the second.
  double sums_beside() const { return by_columns_ ? 1 : chunks_.size() > 1 ? 0.5 : 0; }

  /// Before the layer is run, if it has experts.
  void route_by(Routing r) { routing_ = std::move(r); }

  /// y = the layer of x, both in Way::stream(); cos and sin [rows, head_dim / 2] in Way::positions(). A prompt's
  /// queries see the keys of x; in a decode each row is the next token of a sequence whose keys are in the cache, in a
  /// prefill the last rows may be.
  void prefill(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const host::Tensor& cos,
               const host::Tensor& sin, const Cache& = {});
  void decode(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const host::Tensor& cos,
              const host::Tensor& sin, const Cache&);

 private:
  using Tensors = std::map<std::string, host::Tensor>;  ///< by a kernel's names
  /// The temporary of that name.
  host::Tensor made(const std::string& name);
  /// x as the temporary of that name lies; x itself where there is none.
  host::Tensor laid_out(const host::Tensor& x, const std::string& name);
  void norm(const host::Tensor& x, const host::Tensor& w, const host::Tensor& b, const host::Tensor& y);
  host::Rows laid_out(const host::Rows&, const std::string& name);
  /// The temporaries that rows of that name are as integers, and with which steps; none where the layer has none.
  host::Rows integers(const std::string& name);
  /// x made integers there; x itself where the layer has none.
  host::Rows in_steps(const host::Tensor& x, const host::Rows& to);
  /// A product of which each rank has a summand, and their sum; with one rank the same tensor.
  struct Summed {
    host::Tensor product, sum;
  };
  Summed summed(const std::string& name);
  host::Tensor rows(const host::Tensor&, const Chunk&) const;
  host::Rows rows(const host::Rows&, const Chunk&) const;
  /// Of a chunk's rows, or a share of it; none with one rank.
  host::SumBeside sum_of(const Summed&, const Chunk&, int64_t turn = 0, int64_t turns = 1) const;
  /// As a launch of its own.
  void add_up(const host::SumBeside&);
  /// Behind attention, where is_shared_by_columns().
  void rest_by_columns(const host::Tensor& heads, const host::Tensor& x, const host::Tensor& y, const LayerWeights&);
  void attend(const host::Tensor& qkv, const host::Tensor& o, const host::Tensor& sinks);
  /// y = x + what o or the MLP come to, with its bias, normed or scaled where the layer does so.
  void add_product(const host::Tensor& x, const host::Tensor& product, const host::Tensor& bias,
                   const host::Tensor& post_norm, const host::Tensor& y);
  /// Launches of an MLP's products.
  int64_t products_of_mlp() const { return s_.gated ? 3 : 2; }
  /// y = the MLP of a chunk's normed rows, laid out as an operand, without the bias of down; sum(0) and so on go beside
  /// its products.
  void mlp(const host::Rows& x, const LayerWeights&, const host::Tensor& y, const Chunk&,
           const std::function<host::SumBeside(int64_t)>& sum, const host::Tensor& residual = {});
  /// y = activation(x · w + bias) of a prefill.
  void activated(const host::Rows& x, const host::Weights& w, const host::Tensor& bias, const host::Tensor& y,
                 const host::SumBeside&, const host::OverRanks& = {});
  void add_bias(const host::Tensor& x, const host::Tensor& b, const std::string& activation = "none");
  /// A decode's products, by decode_linear.
  void linear(Tensors, const host::Weights& w, const char* activation = "none", const host::Weights& up = {});
  void turned(const host::Tensor& qkv, const host::Tensor& cos, const host::Tensor& sin);
  /// y = residual + the product, which is normed before where there is such a norm; in a decode. `name`: of its
  /// temporaries.
  void add_linear(const std::string& name, Tensors, const host::Tensor& residual, const host::Weights& w,
                  const host::Tensor& post_norm, const host::Tensor& y);
  /// `turns`: cos and sin where heads have still to be turned.
  void attend_to_cache(const host::Tensor& qkv, const host::Tensor& o, const Tensors& turns, const Cache&,
                       const host::Tensor& sinks);
  /// In place of the MLP.
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
