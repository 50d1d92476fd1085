// SPDX-License-Identifier: Apache-2.0
// A decoder-only model, as its file describes it. Readers produce it; programs, capacity and reports use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench::models {

/// Position scaling beyond the training length (rope_scaling).
struct RopeScaling {
  enum class Kind : uint8_t { none, linear, llama3, yarn, longrope };
  Kind kind = Kind::none;
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;  ///< llama3
  int64_t original_positions = 8192;                 ///< llama3, yarn, longrope
  double beta_fast = 32, beta_slow = 1;  ///< yarn: rotations in these positions, of pairs that stay and of pairs that
                                         ///< are slowed
  bool truncate = true;                  ///< yarn: the bounds between them are rounded to whole pairs
  double amplitude = 1;                  ///< yarn, longrope: factor of cos and sin
  /// longrope: factors by pair, for up to the original positions, and for more.
  std::vector<double> short_factors = {}, long_factors = {};
};

/// YaRN's default factor of cos and sin: 0.1 · by · ln(factor) + 1.
double yarn_amplitude(double factor, double by = 1);

/// Sizes of the whole model. Counts are ≥ 1 unless 0 has a stated meaning.
struct ModelSpec {
  std::string file, family;  ///< the given path; the model_type
  int64_t vocab = 0, dim = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  int64_t rotary = 0;     ///< leading elements of a head that are rotated
  int64_t hidden = 0;     ///< width of the MLP or of one expert
  int64_t positions = 0;  ///< the model's maximum
  double eps = 1e-6, rope_theta = 10000;
  double window_theta = 0;  ///< for layers with a window, without position scaling; 0: like the other layers
  RopeScaling rope_scaling;
  bool layer_norm = false;          ///< norms subtract the mean and have a bias; else rmsnorm
  bool gated = true;                ///< the MLP has a gate
  bool parallel = false;            ///< the MLP's input is attention's input, not its result
  bool one_norm = false;            ///< one norm for both, if they are parallel
  std::string activation = "silu";  ///< of gate or MLP: silu, gelu (exact), gelu_tanh or swiglu_oai
  double activation_limit = 7;      ///< for swiglu_oai
  int64_t window = 0;               ///< keys that a query sees, including its own; 0: all
  std::vector<bool> windowed;       ///< by layer: whether the window holds; empty: all
  bool qkv_bias = false, o_bias = false, mlp_bias = false, head_bias = false;
  bool sinks = false;       ///< each head has an extra score that has no value
  bool qk_norm = false;     ///< heads of q and k are normed before rotation
  bool post_norms = false;  ///< outputs of attention and MLP are normed before they are added
  double embedding_scale = 1, residual_scale = 1, logits_scale = 1;  ///< factors of embedding rows, of values added to
                                                                     ///< the stream, and of logits
  double score_softcap = 0, logits_softcap = 0;                      ///< c: x becomes c tanh(x / c); 0: none
  double score_scale = 0;                                            ///< factor of scores q k; 0: 1 / √head_dim
  bool tied = false;                                                 ///< the head uses the embedding's weights
  int64_t experts = 0;                                               ///< 0: none, one MLP
  int64_t experts_per_token = 0;
  bool weights_of_chosen = true;  ///< experts' weights: softmax over the chosen ones' logits; else over all
  bool expert_bias = false;       ///< the router has a bias, and so has each of an expert's three matrices
  DType dtype = DType::bf16;
  std::string weights, kv, activations;  ///< types given in the file, named as in the options; empty: dtype
  std::vector<std::string> not_yet;      ///< parts that are counted but cannot run, in words

  int64_t window_of(int64_t layer) const {
    return windowed.empty() || windowed[static_cast<size_t>(layer)] ? window : 0;
  }
  /// Whether the layer's rotation uses window_theta.
  bool turned_for_window(int64_t layer) const { return window_theta > 0 && window_of(layer) > 0; }
  int64_t width() const { return heads * head_dim; }  ///< columns of o and of q
  int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// Rotation speed of each of the rotary / 2 pairs, in radians per position, when this many positions are reached.
std::vector<double> rope_frequencies(const ModelSpec&, int64_t positions = 0);
/// The model as if all layers used the rotation of layers with a window.
ModelSpec turned_for_windows(ModelSpec);

}  // namespace kernbench::models
