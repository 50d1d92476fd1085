// SPDX-License-Identifier: Apache-2.0
// The MLP of a layer with experts (decoder_layer.h). Each token passes through the experts that the router chooses. The
// layer's ranks form expert-parallel groups; the ranks of a group split the width of each of its experts. All ranks
// hold the whole residual stream. Each group computes the rows that chose its experts, and one sum over the ranks
// combines the results.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernbench/platform/models/decoder_layer.h"

namespace kernbench::models {

/// Experts, and the ranks that hold them. Without ranks: all ranks.
struct ExpertGroup {
  std::vector<int64_t> experts;
  std::vector<uint32_t> ranks;
  int64_t count() const { return static_cast<int64_t>(experts.size()); }
};
std::vector<ExpertGroup> expert_groups(const LayerSizes&, const Way&);

/// Temporaries of an ExpertLayer. They have room for as many rows as could choose a group's experts, because the real
/// number depends on data.
std::vector<Temporary> temporaries_of_experts(const LayerSizes&, const Way&, DType);

/// Layouts of experts and their rows on these ranks, in a decode and in a prefill, where each expert gets few rows.
Way way_of_experts(const Way& of_layer, const std::vector<uint32_t>& ranks);

/// InputError that begins with `name`, unless each row of choices [rows, experts_per_token] holds distinct experts.
void check_choices(const std::string& name, const HostTensor&, int64_t experts);

class ExpertLayer {
 public:
  ExpertLayer(host::Context&, const LayerSizes&, const Way&, std::function<void(const char*)> part);

  /// y = x + the experts' outputs for the normed x; both in Way::stream(). The host reads the rows' choices and
  /// enqueues only those experts.
  void run(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const Routing&);

 private:
  /// Rows of a group's experts, expert by expert.
  struct Rows {
    host::Tensor in;
    host::Tensor slot;           ///< index of each row of x among them
    std::vector<int64_t> first;  ///< first row of each expert, and the end
    int64_t count() const { return first.back(); }
  };
  /// The experts' results on one rank; a summand if ranks split the experts' width.
  struct Out {
    std::vector<uint32_t> rank;
    host::Tensor rows;
    host::Tensor product;  ///< all experts' rows in the layout of the product, unless they are spread
  };
  /// The temporary with that name, or the given number of its rows.
  host::Tensor made(const std::string& name, int64_t rows = -1);
  host::Tensor laid_out(const host::Tensor& x, const std::string& name);
  /// Each group's rows, in order; fills `weight` with the chosen experts' weights.
  std::vector<Rows> route(const host::Tensor& x, const LayerWeights&, const Routing&, host::Tensor* weight);
  /// Whether an expert's rows are spread over all PEs of each cube before they are multiplied, which takes two launches
  /// per expert. Otherwise one launch moves the rows of all experts, each expert's to one or two PEs.
  bool is_spread(const Rows&) const;
  std::vector<Out> multiply(size_t group, const Rows&, const LayerWeights&);

  host::Context& h_;
  const LayerSizes s_;
  const Way way_;
  const std::vector<ExpertGroup> groups_;
  const std::vector<Temporary> temporaries_;
  const std::function<void(const char*)> part_;
};

}  // namespace kernbench::models
