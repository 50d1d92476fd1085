// SPDX-License-Identifier: Apache-2.0
// A plot of two metrics of a sweep's points, with their Pareto front.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace kernbench::sweep {

struct PlotPoint {
  double x, y;
  bool on_front;
  std::string name;  ///< shown under the pointer
};

/// SVG. A line joins the points of the Pareto front from left to right.
void write_plot(std::ostream&, const std::string& x_title, const std::string& y_title, const std::vector<PlotPoint>&);

}  // namespace kernbench::sweep
