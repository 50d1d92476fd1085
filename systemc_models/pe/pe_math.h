// SPDX-License-Identifier: Apache-2.0
// Models a PE's vector unit. Its time is Σ over ops ⌈elements / lanes⌉ · cycles(op) · steps / freq_ghz; consecutive
// MATH ops of a token are one service. Steps are 1; for scans ⌈log2 n⌉; for sorts s (s + 1) / 2 with s = ⌈log2 n⌉, for
// n elements along the axis. compute_engine.h has the rest of the service. Timing rules §5. Does not model the depth of
// pipelines, reduction trees, or the distribution of a row over lanes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernbench/systemc_models/pe/compute_engine.h"

namespace kernbench::pe {

/// All ops of kernels (phase2/op/math_op.h).
std::vector<KnownKey> names_of_math_ops();

/// Elements of a command (the largest of its operands and result), or of a tile.
int64_t math_elements(const PeItem&);

struct PeMathParameters : ComputeParameters {
  int64_t lanes = 0;
  double freq_ghz = 0;
  static constexpr double kCyclesWhereNotListed = 1;
  NumberMap cycles;  ///< by op
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeMathParameters::lanes, "lanes", "", "elements a cycle").count().required().area("lane", "lanes");
    list.add(&PeMathParameters::freq_ghz, "freq_ghz", "GHz", "clock").rate(Resource::math).required();
    list.add(&PeMathParameters::cycles, "cycles", "cycles", "cycles of an op for `lanes` elements (default: 1)")
        .latency()
        .known_keys(names_of_math_ops(), kCyclesWhereNotListed);
    describe_compute(list);
  }
};

class PeMath : public ComputeEngine {
 public:
  using Parameters = PeMathParameters;
  PeMath(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_math", "pe_math", "vector unit")
        .engine({{{Stage::math, StageWork::elements}}, true})
        .leads_to({"pe_fetch_store"})
        .bound_without_edge_to({"pe_tcm"});
  }

  // EngineRole.
  std::vector<std::string> notes() const override;

 private:
  /// `op`: row of the name, if known.
  double cycles(const std::string& name, const MathOp* op = nullptr);
  double cycles(const std::vector<std::string>& ops);
  Compute compute(const PeItem& item) override;

  int64_t lanes_;
  double freq_ghz_;
  std::vector<std::optional<double>> cycles_;  ///< of math_ops(), in that order
  std::set<std::string> not_listed_;           ///< executed ops that `cycles` does not list
};

}  // namespace kernbench::pe
