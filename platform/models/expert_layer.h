// SPDX-License-Identifier: Apache-2.0
// The MLP of a layer with experts (decoder_layer.h), of which each token goes through those that the router chooses.
// The layer's ranks are groups, which deal the experts out among themselves; the ranks of a group share out the width
// of each of its experts. All have the whole residual stream: each works on the rows that chose its experts, and one
// sum over the ranks puts together what they have made.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernbench/platform/models/decoder_layer.h"

namespace kernbench::models {

/// Experts [first, first + count) and the ranks that have them; empty: all.
struct ExpertGroup {
  int64_t first = 0, count = 0;
  std::vector<uint32_t> ranks;
};
std::vector<ExpertGroup> expert_groups(const LayerSizes&, const Way&);

/// What an ExpertLayer makes. What experts need is there for as many rows as may choose those of a group: how many do
/// is data.
std::vector<Temporary> temporaries_of_experts(const LayerSizes&, const Way&, DType);

/// How experts and their rows lie on these ranks, in a decode and in a prefill, of which an expert gets few rows.
Way way_of_experts(const Way& of_layer, const std::vector<uint32_t>& ranks);

/// InputError that begins with `name`, where choices [rows, experts_per_token] are not different experts each.
void check_choices(const std::string& name, const HostTensor&, int64_t experts);

class ExpertLayer {
 public:
  ExpertLayer(host::Context&, const LayerSizes&, const Way&, std::function<void(const char*)> part);

  /// y = x + what the experts make of the normed x; both in Way::stream(). The host reads which experts the rows have
  /// chosen, and enqueues those.
  void run(const host::Tensor& x, const host::Tensor& y, const LayerWeights&, const Routing&);

 private:
  /// Rows of a group's experts, one expert's behind another's.
  struct Rows {
    host::Tensor in;
    host::Tensor slot;           ///< where those of a row of x stand
    std::vector<int64_t> first;  ///< of each expert, and behind the last
    int64_t count() const { return first.back(); }
  };
  /// What the experts have made of them, on one rank: a summand, where ranks share out the experts' width.
  struct Out {
    std::vector<uint32_t> rank;
    host::Tensor rows;
    host::Tensor product;  ///< as it is multiplied, of all experts, unless they are spread
  };
  /// The temporary of that name, or so many rows of such a one.
  host::Tensor made(const std::string& name, int64_t rows = -1);
  host::Tensor laid_out(const host::Tensor& x, const std::string& name);
  /// Each group's rows, in order; `weight` becomes that of the chosen.
  std::vector<Rows> route(const host::Tensor& x, const LayerWeights&, const Routing&, host::Tensor* weight);
  /// Whether an expert's rows are spread over all PEs of each cube before they are multiplied, which takes two launches
  /// an expert. Else the rows of all go there together, an expert's to one PE or two.
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
