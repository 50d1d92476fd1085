// SPDX-License-Identifier: Apache-2.0
// A decoder-only model, as its file says it: what a reader makes, and what programs, capacity and reports are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench::models {

/// How positions are stretched beyond what a model was trained for (rope_scaling).
struct RopeScaling {
  enum class Kind : uint8_t { none, linear, llama3, yarn, longrope };
  Kind kind = Kind::none;
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;  ///< llama3
  int64_t original_positions = 8192;                 ///< llama3, yarn, longrope
  double beta_fast = 32, beta_slow = 1;  ///< yarn: turns in these positions, of pairs that stay, that slow down
  bool truncate = true;                  ///< yarn: the bounds between them are whole pairs
  double amplitude = 1;                  ///< yarn, longrope: of cos and sin
  /// longrope: by pair, of positions up to the original ones, and of more.
  std::vector<double> short_factors = {}, long_factors = {};
};

/// What YaRN makes of cos and sin where the file does not say: 0.1 · by · ln(factor) + 1.
double yarn_amplitude(double factor, double by = 1);

/// Sizes are of the whole model; all counts are 1 or more unless they say what 0 means.
struct ModelSpec {
  std::string file, family;  ///< as given; the model_type
  int64_t vocab = 0, dim = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  int64_t rotary = 0;     ///< elements of a head that are turned, its first ones
  int64_t hidden = 0;     ///< width of the MLP, or of one expert
  int64_t positions = 0;  ///< the most that it was made for
  double eps = 1e-6, rope_theta = 10000;
  double window_theta = 0;  ///< of layers with a window, whose positions are not stretched; 0: as of the others
  RopeScaling rope_scaling;
  bool layer_norm = false;          ///< norms take the mean away and have a bias; else rmsnorm
  bool gated = true;                ///< the MLP has a gate
  bool parallel = false;            ///< the MLP works on what attention does, not on what that comes to
  bool one_norm = false;            ///< of both, where they are parallel
  std::string activation = "silu";  ///< of the gate, or the MLP: silu, gelu (exact), gelu_tanh or swiglu_oai
  double activation_limit = 7;      ///< of swiglu_oai
  int64_t window = 0;               ///< keys that a query sees, itself among them; 0: all
  std::vector<bool> windowed;       ///< by layer: where the window holds; empty: in all
  bool qkv_bias = false, o_bias = false, mlp_bias = false, head_bias = false;
  bool sinks = false;       ///< each head has a score beside those of its keys, that has no value
  bool qk_norm = false;     ///< heads of q and k are normed before they are turned
  bool post_norms = false;  ///< what attention and the MLP come to is normed before it is added
  double embedding_scale = 1, residual_scale = 1, logits_scale = 1;  ///< of rows, of what is added to them, of logits
  double score_softcap = 0, logits_softcap = 0;                      ///< c: x becomes c tanh(x / c); 0: none
  double score_scale = 0;                                            ///< of scores q k; 0: 1 / √head_dim
  bool tied = false;                                                 ///< the head's weights are the embedding's
  int64_t experts = 0;                                               ///< 0: none, one MLP
  int64_t experts_per_token = 0;
  bool weights_of_chosen = true;  ///< of experts, by a softmax of the chosen ones' logits; else of all experts'
  bool expert_bias = false;       ///< the router has a bias, and each expert's three matrices
  DType dtype = DType::bf16;
  std::string weights, kv, activations;  ///< types that the file names, as the options have them; empty: dtype
  std::vector<std::string> not_yet;      ///< parts that can be counted and not be run, in words

  int64_t window_of(int64_t layer) const {
    return windowed.empty() || windowed[static_cast<size_t>(layer)] ? window : 0;
  }
  /// Whether the layer's positions are turned by window_theta.
  bool turned_for_window(int64_t layer) const { return window_theta > 0 && window_of(layer) > 0; }
  int64_t width() const { return heads * head_dim; }  ///< columns of o, and of q
  int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// How fast each pair of a head turns, radians a position, where so many positions are reached: rotary / 2 of them.
std::vector<double> rope_frequencies(const ModelSpec&, int64_t positions = 0);
/// The model whose layers all are turned as those with a window.
ModelSpec turned_for_windows(ModelSpec);

}  // namespace kernbench::models
