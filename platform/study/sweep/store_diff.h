// SPDX-License-Identifier: Apache-2.0
// `kernbench diff` of two stores: the differences of the sweeps, and the points with different results.
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
  /// Settings that all points of a share and all points of b share, with different values. Points match if all other
  /// settings are equal.
  std::vector<RunDiff::Setting> configuration;
  size_t both = 0, a_alone = 0, b_alone = 0;
  struct Point {
    std::string name;                  ///< "links=flit params.n=64": settings in which the points of a store differ
    std::optional<double> a_ns, b_ns;  ///< none: no time
    /// Time of b divided by that of a, minus 1; 0 if one is missing.
    double slower() const { return a_ns && b_ns && *a_ns > 0 ? *b_ns / *a_ns - 1 : 0; }
  };
  std::vector<Point> changed;  ///< points in both stores with different times, in a's order
  /// The maximum over all points.
  double slower() const;
};

/// InputError for files that are no stores, and for points without a run document.
StoreDiff diff_stores(const std::string& a, const std::string& b);
void write_store_diff_text(std::ostream&, const StoreDiff&);
void write_store_diff_json(std::ostream&, const StoreDiff&);

}  // namespace kernbench::sweep
