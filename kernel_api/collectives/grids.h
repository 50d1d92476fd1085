// SPDX-License-Identifier: Apache-2.0
// Positions of a group's members in a grid and in a ring (collectives rules §12.2). Plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/kernel_api/collectives/groups.h"

namespace kernbench::ccl {

/// Cell i is at x = i mod w, y = i div w. The members of a group along one axis are its cells in order.
struct Grid {
  int64_t w = 1, h = 1;
  int64_t cells() const { return w * h; }
  int64_t x(int64_t cell) const { return cell % w; }
  int64_t y(int64_t cell) const { return cell / w; }
  int64_t cell(int64_t x, int64_t y) const { return y * w + x; }
  int64_t centre() const { return cell(w / 2, h / 2); }
  bool operator==(const Grid& o) const { return w == o.w && h == o.h; }
};

/// The P PEs of a cube in rows of P / h, where h is the largest divisor of P that is ≤ √P.
Grid pe_grid(int64_t pes);

/// Grid of all places of the machine along the axis: the PEs of a cube, the cubes of a SIP, or the SIPs.
Grid whole_grid(const LaunchShape&, Axis);

/// The members' grid along the axis in which they differ. One row if the launch omits a place of the machine.
Grid grid_of(const LaunchShape&, Axis, const Members&);

/// Member by position in a ring. Over one axis: row by row, odd rows backwards (ranks on a tray without a grid: in
/// order). Over several axes: in order.
std::vector<int64_t> ring_order(const LaunchShape&, Axes over, const Members&);

}  // namespace kernbench::ccl
