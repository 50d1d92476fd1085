// SPDX-License-Identifier: Apache-2.0
// How the members of a group stand in a grid, and in a ring (collectives rules §12.2). Plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/kernel_api/collectives/groups.h"

namespace kernbench::ccl {

/// Cell i is at x = i mod w, y = i div w; members of a group along one axis are its cells in order.
struct Grid {
  int64_t w = 1, h = 1;
  int64_t cells() const { return w * h; }
  int64_t x(int64_t cell) const { return cell % w; }
  int64_t y(int64_t cell) const { return cell / w; }
  int64_t cell(int64_t x, int64_t y) const { return y * w + x; }
  int64_t centre() const { return cell(w / 2, h / 2); }
  bool operator==(const Grid& o) const { return w == o.w && h == o.h; }
};

/// P PEs of a cube in rows of P / h, h the largest divisor of P that is ≤ √P.
Grid pe_grid(int64_t pes);

/// Of all places that the machine has along the axis: of the PEs of a cube, the cubes of a SIP, the SIPs.
Grid whole_grid(const LaunchShape&, Axis);

/// The members' grid along the axis that they differ in; one row where the launch leaves out some place of the
/// machine's.
Grid grid_of(const LaunchShape&, Axis, const Members&);

/// Member by position in a ring: over one axis row by row, odd rows backwards (ranks on a tray without a grid: in
/// order); over several axes in order.
std::vector<int64_t> ring_order(const LaunchShape&, Axes over, const Members&);

}  // namespace kernbench::ccl
