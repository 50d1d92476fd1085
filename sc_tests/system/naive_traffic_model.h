// SPDX-License-Identifier: Apache-2.0
// The timing rules §2 to §4 and §9 written down once more, naively: one sorted list of things to do, no SystemC, no
// modules, nothing shared with the models under test. Links ideal or cut_through.
#pragma once

#include <vector>

#include "random_traffic.h"

namespace kernbench::testing {

struct NaiveResult {
  double grant_ns = 0, done_ns = 0, formula_ns = 0;
};

class NaiveTrafficModel {
 public:
  explicit NaiveTrafficModel(const FlatSystem& system);
  /// False where the contract says that the request is an error: no path, or no way back where one is needed.
  bool possible(const FlatRequest& q) const;
  std::vector<NaiveResult> run(const std::vector<FlatRequest>& requests) const;

 private:
  std::vector<NaiveResult> play(const std::vector<FlatRequest>& requests) const;
  std::vector<int> path(int from, int to) const;  ///< edges; empty if there is none
  std::vector<int> way_back(const std::vector<int>& path) const;
  double bandwidth(int edge) const;
  const FlatMemory& memory_of(const FlatRequest& q) const;
  const FlatSystem& system_;
};

}  // namespace kernbench::testing
