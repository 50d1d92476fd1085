// SPDX-License-Identifier: Apache-2.0
// A model's phases as one program: its tensors, what it launches, and what the outputs must be.
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

/// What a tensor of the program is, for capacity and bytes.
enum class Use : uint8_t { weights, cache, table, io };

struct ModelTensor {
  ProgramTensor tensor;
  Use use = Use::io;
  int64_t layer = -1;    ///< of a layer; -1: of none
  size_t phase = 0;      ///< for which it is laid out, and the first that has it
  std::string own = "";  ///< name without the phase
};

/// Where in the program an operation stands: those from `first` on, in the order of enqueueing.
struct Mark {
  size_t first = 0;
  size_t phase = 0;
  std::string layer;       ///< embedding, layer 0, head
  std::string part;        ///< qkv, attention, all_reduce
  int64_t step = 0;        ///< of a decode
  double sums_beside = 0;  ///< DecoderLayer::sums_beside() of the layer
};

/// Whom the rows of a layer have chosen among its experts: i32 [rows, experts_per_token].
struct Route {
  size_t phase = 0;
  int64_t layer = 0, step = 0;
  HostTensor choice;
};

/// By its number in the model, and how many of the model's layers it stands for, itself among them.
struct SimulatedLayer {
  int64_t number = 0, times = 1;
  std::string name() const { return "layer " + std::to_string(number); }
};

/// Of a phase in all layers of a model: without the window of one, and the ranges of keys.
LayerSizes sizes_of(const ModelSpec&, const Plan&, const Phase&);

class ModelProgram {
 public:
  /// `pes`: of each rank. The phases run one after the other; with several each has tensors of its own, named
  /// phase0.…, the weights' values alike. Weights that lie alike in two phases are those of the first.
  ModelProgram(const ModelSpec&, const Plan&, int64_t pes);
  ModelProgram(const ModelProgram&) = delete;  // its spec's functions know it

  const ModelSpec& model() const { return model_; }
  /// In order. With --repeat the first of each kind.
  const std::vector<SimulatedLayer>& layers() const { return layers_; }
  /// Of all steps, where the run is of one phase and simulates all that it counts; else 0.
  int64_t tokens_of_run() const;
  const Plan& plan() const { return plan_; }
  const std::vector<ModelTensor>& tensors() const { return tensors_; }
  /// Its function and reference refer to this.
  const ProgramSpec& spec() const { return spec_; }
  /// What the tensor of a phase is called in the program.
  std::string name_of(size_t phase, const std::string& name) const;
  /// What a stage calls its cos, sin or table: the ranks that have the layer.
  std::string positions_of(int64_t layer, const std::string& name) const;
  /// Behind cos and sin in the names of the tables by which the layer is turned.
  std::string kind_of_positions(int64_t layer) const;
  /// Files that a run takes values of tensors from, by name: what is made from these tensors is made from the files.
  void take_files(std::map<std::string, std::string> files) { files_ = std::move(files); }
  /// Since it has run.
  const std::vector<Mark>& marks() const { return marks_; }
  /// Since it has run, in that order; none without experts.
  const std::vector<Route>& routes() const { return routes_; }
  /// How many experts of a layer the rows of a step have chosen, on an average; 0 without experts.
  double experts_chosen(size_t phase) const;
  /// Into how many ranges the keys of a phase's sequences are cut, and the room of each.
  struct Ranges {
    int64_t splits = 1, keys = 0;
  };
  Ranges ranges(const Phase&) const;
  /// Of the table of a phase whose cache is in pages: sequences and pages of each.
  Dims pages(const Phase&) const;
  LayerSizes sizes(const Phase&, int64_t layer) const;
  /// How a layer's operands lie in a phase.
  Way way(const Phase& p, int64_t layer) const { return {p.has_prompt(), plan_.ranks_of(layer), unit()}; }
  /// Of the head, which has a row a sequence: as a decode.
  Way one_row() const { return {false, plan_.ranks_of(layers_.back().number), unit()}; }
  /// Of the head, whose matrix with tied weights is the embedding's.
  DType head_type() const { return model_.tied ? plan_.dtype : plan_.weights; }
  /// Tied, it multiplies rows as they are.
  bool head_has_integer_rows() const { return plan_.integer_rows() && !model_.tied; }

 private:
  class Run;
  int64_t unit() const { return values_in(plan_.weights); }
  /// A matrix of weights of this type, with its scales if it has some; `over_rows`: the ranks share out k, else n.
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
  std::map<std::string, std::string> files_, shared_;  // shared_: of a later phase's name the first's
  std::multimap<std::string, size_t> weights_;         // of several phases: places in tensors_, by `own`
  std::vector<Mark> marks_;
  std::vector<Route> routes_;
};

/// All outputs of the program in plain loops of f64, from its inputs.
std::map<std::string, Expected> model_reference(const ModelProgram&, const TensorMap& inputs);

}  // namespace kernbench::models
