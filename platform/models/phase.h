// SPDX-License-Identifier: Apache-2.0
// The measured phases of a model, and the plan that maps it onto the machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/platform/models/model_spec.h"

namespace kernbench::models {

/// A prompt of `tokens` (prefill), or a batch of sequences with `context` cached keys each that take `steps` tokens one
/// by one (decode), or both in one step (mixed).
struct Phase {
  std::string text;                           ///< as given
  int64_t tokens = 0;                         ///< prompt tokens; 0: no prompt
  int64_t batch = 0, context = 0, steps = 1;  ///< of the sequences; batch 0: none
  int64_t page = 0;                           ///< tokens per page of their cache; 0: not paged
  bool has_prompt() const { return tokens > 0; }
  bool has_sequences() const { return batch > 0; }
  int64_t rows() const {
    return tokens + batch;
  }  ///< rows of the residual stream; the prompt's come
     ///< first
  int64_t logits() const {
    return (has_prompt() ? 1 : 0) + batch;
  }  ///< rows of logits: the prompt's last row, then
     ///< the sequences'
  /// The last position, counted from 1.
  int64_t reach() const { return std::max(tokens, has_sequences() ? context + steps : 0); }
  int64_t position(int64_t row, int64_t step) const { return row < tokens ? row : context + step; }
};

/// prefill:N, decode:batch=B,context=C[,steps=S][,page=T] or mixed:prefill=N,batch=B,context=C[,page=T]. InputError.
Phase parse_phase(const std::string&);

struct Plan {
  std::vector<Phase> phases;
  int64_t ranks = 1;          ///< SIPs that split each layer: tensor times expert parallelism
  int64_t expert_groups = 1;  ///< expert-parallel groups of ranks
  /// Order of the experts over the groups; empty: by number.
  std::vector<int64_t> expert_order;
  bool routed = false;      ///< experts are chosen by the router's logits, not given
  int64_t stages = 1;       ///< pipeline-parallel stages, each of `ranks` SIPs
  int64_t layers = 0;       ///< counted layers of the model: all, or --layers
  bool repeat = false;      ///< equal layers are simulated once
  int64_t only_layer = -1;  ///< only this layer, from and to the residual stream; -1: no
  DType dtype = DType::bf16;
  DType weights = DType::bf16;  ///< of layer and head matrices: dtype, f8e4m3, i8 or i4
  DType kv = DType::bf16;       ///< of the cache: dtype, f8e4m3 or i8
  /// Rows multiplied with matrices of type `weights`: dtype, or i8 with one scale per row.
  DType activations = DType::bf16;

  bool quantized() const { return weights != dtype; }
  bool integer_rows() const { return activations != dtype; }
  /// Rows (k) per scale in a weight matrix with this many rows; 0: all.
  int64_t group(int64_t k) const;
  int64_t tensor_ranks() const { return ranks / expert_groups; }
  int64_t all_ranks() const { return ranks * stages; }
  /// The ranks that hold a layer; empty: all. The embedding is on the first stage, the head on the last.
  std::vector<uint32_t> ranks_of(int64_t layer) const;
  int64_t stage_of(int64_t layer) const { return stages > 1 ? layer * stages / layers : 0; }
  int64_t first_layer(int64_t stage) const { return (stage * layers + stages - 1) / stages; }
  bool whole() const { return only_layer < 0; }  ///< includes embedding and head
};

/// InputError if the model cannot run so: one line with the reason, and "not yet" for unsupported parts.
void check_plan(const ModelSpec&, const Plan&);

}  // namespace kernbench::models
