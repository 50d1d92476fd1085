// SPDX-License-Identifier: Apache-2.0
// A model's phases as one host program: its tensors, its launches, and the expected outputs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/platform/models/decoder_layer.h"
#include "kernbench/platform/models/phase.h"

namespace kernbench::models {

/// The purpose of a tensor, for capacity and byte counts.
enum class Use : uint8_t { weights, cache, table, io };

struct ModelTensor {
  ProgramTensor tensor;
  Use use = Use::io;
  int64_t layer = -1;              ///< -1: no layer
  size_t phase = 0;                ///< the phase whose layout it has, which is its first user
  std::vector<size_t> users = {};  ///< the phases that use it, in order
  std::string own = "";            ///< name without the phase
};

/// A range of a program's operations: from `first` on, in enqueue order.
struct Mark {
  size_t first = 0;
  size_t phase = 0;
  std::string layer;       ///< embedding, layer 0, head
  std::string part;        ///< qkv, attention, all_reduce
  int64_t step = 0;        ///< of a decode
  double sums_beside = 0;  ///< DecoderLayer::sums_beside() of the layer
};

/// The experts that a layer's rows have chosen: i32 [rows, experts_per_token].
struct Route {
  size_t phase = 0;
  int64_t layer = 0, step = 0;
  HostTensor choice;
};

/// A simulated layer: its number, and how many layers of the model it represents, including itself.
struct SimulatedLayer {
  int64_t number = 0, times = 1;
  std::string name() const { return "layer " + std::to_string(number); }
};

/// Cost class of a layer in a phase: window and key ranges.
LayerSizes sizes_of(const ModelSpec&, const Plan&, const Phase&);

class ModelProgram {
 public:
  /// `pes`: PEs of each rank. Phases run in sequence. With several, each has its own tensors, named phase0.…; weights
  /// have equal values in all. If two phases use the same layout of weights, they share the first phase's tensors.
  ModelProgram(const ModelSpec&, const Plan&, int64_t pes);
  ModelProgram(const ModelProgram&) = delete;  // its spec's functions refer to this object

  /// Keeps weights in memory only during the phases that use them. Each phase's weights replace those of the phase
  /// before. Call it before the run.
  void place_in_turn();
  bool placed_in_turn() const { return in_turn_; }
  /// Whether the tensor is in memory during the phase.
  bool is_there(const ModelTensor& t, size_t phase) const;

  const ModelSpec& model() const { return model_; }
  /// In order. With --repeat the first of each kind.
  const std::vector<SimulatedLayer>& layers() const { return layers_; }
  /// All steps; 0 unless the run has one phase and simulates all counted layers.
  int64_t tokens_of_run() const;
  const Plan& plan() const { return plan_; }
  const std::vector<ModelTensor>& tensors() const { return tensors_; }
  /// The spec's function and reference refer to this object.
  const ProgramSpec& spec() const { return spec_; }
  /// A phase's tensor name in the program.
  std::string name_of(size_t phase, const std::string& name) const;
  /// A stage's name for its cos, sin or table; a stage is the ranks that hold a layer.
  std::string positions_of(int64_t layer, const std::string& name) const;
  /// Suffix of the cos and sin tables by which the layer is rotated.
  std::string kind_of_positions(int64_t layer) const;
  /// Files that give tensor values, by name. Tensors derived from these tensors use the files' values.
  void take_files(std::map<std::string, std::string> files) { files_ = std::move(files); }
  /// Valid after the run.
  const std::vector<Mark>& marks() const { return marks_; }
  /// Valid after the run, in that order; empty without experts.
  const std::vector<Route>& routes() const { return routes_; }
  /// Mean number of distinct experts that a step's rows choose in a layer; 0 without experts.
  double experts_chosen(size_t phase) const;
  /// Valid after the run: an order of experts (Plan::expert_order) that gives the busiest group less work; empty if
  /// none was found or if there are no groups.
  std::vector<int64_t> even_order() const;
  /// The number of key ranges per sequence in a phase, and the capacity of each.
  struct Ranges {
    int64_t splits = 1, keys = 0;
  };
  Ranges ranges(const Phase&) const;
  /// Sizes of a paged cache's table: sequences, and pages of each.
  Dims pages(const Phase&) const;
  LayerSizes sizes(const Phase&, int64_t layer) const;
  /// Layouts of a layer's operands in a phase.
  Way way(const Phase& p, int64_t layer) const { return {p.has_prompt(), plan_.ranks_of(layer), unit()}; }
  /// Layouts of the head, which has one row per sequence, as in a decode.
  Way one_row() const { return {false, plan_.ranks_of(layers_.back().number), unit()}; }
  /// The head's weights; with tied weights the embedding's.
  DType head_type() const { return model_.tied ? plan_.dtype : plan_.weights; }
  /// A tied head multiplies unquantized rows.
  bool head_has_integer_rows() const { return plan_.integer_rows() && !model_.tied; }

 private:
  class Run;
  int64_t unit() const { return values_in(plan_.weights); }
  /// A weight matrix of this type, with scales if the type needs them. `over_rows`: the ranks split k, else n.
  void add_matrix(const ModelTensor& like, const std::string& name, DType, int64_t k, int64_t n, const Way&,
                  bool over_rows);
  void add(ModelTensor, const std::string& name, const Dims& shape, const host::Layout&);
  void add_phase(size_t phase);
  void add_ends(size_t phase);
  void add_layer(size_t phase, int64_t layer);
  void add_cache(size_t phase, int64_t layer);
  void add_positions(size_t phase);
  void add_pages(size_t phase);
  void add_mlp(const ModelTensor& like, const std::string& before, const Way&);
  void add_mlp_biases(const ModelTensor& like, const std::string& before, const std::vector<uint32_t>& ranks);
  void add_experts(const ModelTensor& like, const std::string& before);

  const ModelSpec model_;
  const Plan plan_;
  const int64_t pes_;
  const std::vector<SimulatedLayer> layers_;
  std::vector<ModelTensor> tensors_;
  ProgramSpec spec_;
  std::map<std::string, std::string> files_, shared_;  // shared_: maps a later phase's name to the first phase's
  std::multimap<std::string, size_t> weights_;         // with several phases: indices into tensors_, by `own`
  std::vector<Mark> marks_;
  std::vector<Route> routes_;
  bool in_turn_ = false;
};

/// Computes all outputs of the program from its inputs, in plain f64 loops.
std::map<std::string, Expected> model_reference(const ModelProgram&, const TensorMap& inputs);

}  // namespace kernbench::models
