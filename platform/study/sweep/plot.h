// SPDX-License-Identifier: Apache-2.0
// A picture of two metrics of a sweep's points, and of the points that no other beats.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace kernbench::sweep {

struct PlotPoint {
  double x, y;
  bool on_front;
  std::string name;  ///< shown where the pointer is
};

/// SVG. The front's points, from left to right, are joined by a line.
void write_plot(std::ostream&, const std::string& x_title, const std::string& y_title, const std::vector<PlotPoint>&);

}  // namespace kernbench::sweep
