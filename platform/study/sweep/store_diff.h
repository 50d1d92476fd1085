// SPDX-License-Identifier: Apache-2.0
// `kernbench diff` of two stores: in what the sweeps differ, and which of their points came out otherwise.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/study/diff/run_diff.h"

namespace kernbench::sweep {

struct StoreDiff {
  std::string a, b;
  size_t a_points = 0, b_points = 0;
  /// What all points of a have alike, all of b alike, and not the same. Points are the same one where all else is.
  std::vector<RunDiff::Setting> configuration;
  size_t both = 0, a_alone = 0, b_alone = 0;
  struct Point {
    std::string name;                  ///< "links=flit params.n=64": what points of a store differ in
    std::optional<double> a_ns, b_ns;  ///< none: it came to no time
    /// b's time over a's, less 1; 0 where one is missing.
    double slower() const { return a_ns && b_ns && *a_ns > 0 ? *b_ns / *a_ns - 1 : 0; }
  };
  std::vector<Point> changed;  ///< of both, those with other times, in a's order
  /// The greatest of all points.
  double slower() const;
};

/// InputError for files that are no stores, and points that do not say which run they are.
StoreDiff diff_stores(const std::string& a, const std::string& b);
void write_store_diff_text(std::ostream&, const StoreDiff&);
void write_store_diff_json(std::ostream&, const StoreDiff&);

}  // namespace kernbench::sweep
