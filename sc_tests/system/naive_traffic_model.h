// SPDX-License-Identifier: Apache-2.0
// The timing rules §2 to §4 and §9 in a second, naive implementation: one sorted event list, without SystemC or
// modules, sharing nothing with the models under test. Links are ideal or cut_through.
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
  /// False if the contract makes the request an error: no path, or no path back that is needed.
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
