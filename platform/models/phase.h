// SPDX-License-Identifier: Apache-2.0
// What of a model is measured: its phases, and how it is spread over the machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/platform/models/model_spec.h"

namespace kernbench::models {

/// One prompt of `tokens` (prefill), or a batch of sequences that have `context` keys each in their cache and take
/// `steps` tokens one after the other (decode), or both in one step (mixed).
struct Phase {
  std::string text;                           ///< as given
  int64_t tokens = 0;                         ///< of the prompt; 0: none
  int64_t batch = 0, context = 0, steps = 1;  ///< of the sequences; batch 0: none
  int64_t page = 0;                           ///< tokens of a page of their cache; 0: it has none
  bool has_prompt() const { return tokens > 0; }
  bool has_sequences() const { return batch > 0; }
  int64_t rows() const { return tokens + batch; }                    ///< of the residual stream, the prompt's first
  int64_t logits() const { return (has_prompt() ? 1 : 0) + batch; }  ///< rows of them: the prompt's last, then these
  /// The last position, counted from 1.
  int64_t reach() const { return std::max(tokens, has_sequences() ? context + steps : 0); }
  int64_t position(int64_t row, int64_t step) const { return row < tokens ? row : context + step; }
};

/// prefill:N, decode:batch=B,context=C[,steps=S][,page=T] or mixed:prefill=N,batch=B,context=C[,page=T]. InputError.
Phase parse_phase(const std::string&);

struct Plan {
  std::vector<Phase> phases;
  int64_t ranks = 1;          ///< SIPs that share each layer out: tensor times expert parallelism
  int64_t expert_groups = 1;  ///< expert parallelism: groups of them that share the experts out
  bool routed = false;        ///< experts are chosen by the router's logits, not given
  int64_t stages = 1;         ///< pipeline parallelism: of layers that follow each other, each of so many ranks
  int64_t layers = 0;         ///< of the model that are counted: all, or --layers
  bool repeat = false;        ///< equal layers are simulated once
  int64_t only_layer = -1;    ///< one layer alone, from and to the residual stream; -1: no
  DType dtype = DType::bf16;
  DType weights = DType::bf16;  ///< of the matrices of layers and head: dtype, f8e4m3, i8 or i4
  DType kv = DType::bf16;       ///< of the cache: dtype, f8e4m3 or i8
  /// Of the rows that are multiplied with matrices of type `weights`: dtype, or i8, each row with a step of its own.
  DType activations = DType::bf16;

  bool quantized() const { return weights != dtype; }
  bool integer_rows() const { return activations != dtype; }
  /// Rows (k) of a matrix of weights that share a scale, of so many; 0: all.
  int64_t group(int64_t k) const;
  int64_t tensor_ranks() const { return ranks / expert_groups; }
  int64_t all_ranks() const { return ranks * stages; }
  /// The ranks that have a layer, empty for all; embedding and head are with the first and the last.
  std::vector<uint32_t> ranks_of(int64_t layer) const;
  int64_t stage_of(int64_t layer) const { return stages > 1 ? layer * stages / layers : 0; }
  int64_t first_layer(int64_t stage) const { return (stage * layers + stages - 1) / stages; }
  bool whole() const { return only_layer < 0; }  ///< with embedding and head
};

/// InputError where the model cannot be run so: one line that says why, and "not yet" of what has not been built.
void check_plan(const ModelSpec&, const Plan&);

}  // namespace kernbench::models
