// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective takes: the one that costs least by the table of collectives rules §12.6, alone on an
// idle machine and without contention. A choice, no promise: anybody can work it out from graph, launch and parameters.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/collectives/collective.h"
#include "kernbench/kernel_api/launch_costs.h"

namespace kernbench::ccl {

/// What is moved: `elements` as the table of `kernbench collectives` counts them (a member's vector; of all_gather,
/// reduce_scatter and all_to_all all members' blocks), at most those of a part.
struct Amount {
  int64_t elements = 0;
  DType dtype = DType::f32;
  std::string redop = "sum";
};

class CostTable {
 public:
  CostTable(const LaunchShape&, const LaunchCosts&, Collective, Amount);

  /// Of a Collective::algorithm. BadParam where it is not available.
  double cost_ns(const std::string& algorithm) const;
  /// Empty, or why it is not available for these groups.
  std::string unavailable(const std::string& algorithm) const;
  /// Whether `auto` and `best` consider it: multicasts only where the machine declares them (multicast rules §19.8).
  bool considered(const std::string& algorithm) const;
  /// All that are available and considered with their costs, in the order of algorithms_of().
  std::vector<std::pair<std::string, double>> all() const;

 private:
  using Phases = std::vector<const Phase*>;
  /// The connections of all groups' phases of one level, both ways; found once for the launch.
  const LaunchCosts::Ways& ways(const std::string& algorithm, const char* level, const Phases&) const;
  /// S of a message on the dearest of them, and its read. ns.
  LaunchCosts::Message message(const LaunchCosts::Ways&, int64_t elements) const;
  /// M. ns.
  double math_ns(int64_t elements) const;
  /// In (a reduction) and out (a broadcast) of a grid towards a root.
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

/// Times of these algorithms, ns; infinite for one that fails.
using Simulate = std::function<std::vector<double>(const std::vector<std::string>& algorithms)>;

/// Of `auto` the algorithm of least cost, of `best` the one that is quickest when all are simulated; on equal cost the
/// first, and where there is one alone it. Fills in the notes. BadParam.
std::string choose_algorithm(const CostTable&, const Collective&, const Simulate&, LaunchNotes*);

}  // namespace kernbench::ccl
