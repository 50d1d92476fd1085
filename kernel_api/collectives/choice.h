// SPDX-License-Identifier: Apache-2.0
// Selects a collective's algorithm: the cheapest by the table of collectives rules §12.6, on an idle machine and
// without contention. It is an estimate, not a guarantee. It follows from graph, launch and parameters alone.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/collectives/collective.h"
#include "kernbench/kernel_api/launch_costs.h"

namespace kernbench::ccl {

/// The amount of data. `elements` is counted like in the table of `kernbench collectives`: a member's vector, or for
/// all_gather, reduce_scatter and all_to_all the blocks of all members. At most the elements of one part.
struct Amount {
  int64_t elements = 0;
  DType dtype = DType::f32;
  std::string redop = "sum";
};

class CostTable {
 public:
  CostTable(const LaunchShape&, const LaunchCosts&, Collective, Amount);

  /// Cost of a Collective::algorithm, without or with the protocol of the collective. BadParam if it is unavailable.
  double cost_ns(const std::string& algorithm) const;
  /// The reason why it is unavailable for these groups; empty if it is available.
  std::string unavailable(const std::string& algorithm) const;
  /// Whether `auto` and `best` consider it: multicasts only if the machine declares them (multicast rules §19.8).
  bool considered(const std::string& algorithm) const;
  /// All available and considered algorithms with their costs, in the order of algorithms_of(); where the machine
  /// declares protocols, each with each of them ("ring.ll").
  std::vector<std::pair<std::string, double>> all() const;
  /// The same of one algorithm.
  std::vector<std::pair<std::string, double>> by_protocol(const std::string& algorithm) const;
  /// BadParam if the machine does not declare the collective's protocol.
  void check_protocol() const;

 private:
  using Phases = std::vector<const Phase*>;
  /// The connections of one level of all groups' phases, in both directions. Computed once per launch.
  const LaunchCosts::Ways& ways(const std::string& algorithm, const char* level, const Phases&) const;
  /// S of a message on the slowest connection, and its read time, in ns.
  LaunchCosts::Message message(const LaunchCosts::Ways&, int64_t elements) const;
  /// M, in ns.
  double math_ns(int64_t elements) const;
  /// Costs of a grid towards a root (a reduction) and from it (a broadcast).
  struct InOut {
    double in_ns = 0, out_ns = 0;
  };
  InOut grid(const LaunchCosts::Ways&, const Phases&) const;
  double hierarchical(const std::vector<Group>&) const;
  double single(const std::string& algorithm, const std::vector<Group>&) const;
  double overhead_ns() const;

  const LaunchShape& launch_;
  const LaunchCosts& costs_;
  const Collective collective_;
  const Amount amount_;
  const int64_t first_;  ///< member 0 of the first group
};

/// Returns the times of these algorithms in ns; infinite for one that fails.
using Simulate = std::function<std::vector<double>(const std::vector<std::string>& algorithms)>;

/// `auto`: the algorithm with the lowest cost. `best`: the fastest one when all are simulated. Equal costs: the first
/// one. If the op has only one algorithm, it is returned. Fills in the notes. BadParam.
std::string choose_algorithm(const CostTable&, const Collective&, const Simulate&, LaunchNotes*);

}  // namespace kernbench::ccl
