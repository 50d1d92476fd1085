// SPDX-License-Identifier: Apache-2.0
// The PEs of a launch and their grids, as input of a kernel's wiring (collectives rules §12.1, §12.2).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kernbench {

/// Cache of values that are computed once from a launch's shape for all of its PEs; the key is a text.
class LaunchMemo {
 public:
  LaunchMemo() = default;
  LaunchMemo(const LaunchMemo&) {}  // a copy may be modified into another shape
  LaunchMemo& operator=(const LaunchMemo&) {
    kept_.clear();
    return *this;
  }
  /// The result of `make()` for this key, computed on first use; valid as long as the shape.
  template <class T, class Make>
  const T& get(const std::string& text, const Make& make) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<const void>& kept = kept_[text];
    if (!kept) kept = std::make_shared<const T>(make());
    return *static_cast<const T*>(kept.get());
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const void>> kept_;
};

struct LaunchShape {
  /// One PE of the launch. pe, cube and rank number it among the launched ones; `…_place` is its position in the
  /// machine: the PE in its cube, the cube in its SIP, the SIP in the machine.
  struct Place {
    int64_t pe = 0, cube = 0, rank = 0;
    int64_t pe_place = 0, cube_place = 0, rank_place = 0;
    std::string id;  ///< "sip0.cube0.pe0"
  };
  struct Grid {
    int64_t w = 1, h = 1;
    /// A grid of `cells` cells with cells / h columns, where h is the largest divisor that is ≤ √cells.
    static Grid near_square(int64_t cells) {
      int64_t h = 1;
      for (int64_t d = 1; d * d <= cells; ++d) {
        if (cells % d == 0) h = d;
      }
      return {cells / h, h};
    }
  };
  std::vector<Place> pes;     ///< by tl.index()
  int64_t pes_of_cube = 1;    ///< PEs of a cube in the machine, among the cubes of the launch; the maximum
  Grid cubes, ranks;          ///< cubes of a SIP; ranks of the tray. One row in a flat topology
  bool flat = false;          ///< a flat topology, whose PEs are in one row too
  std::string tray = "none";  ///< shape of the tray: none, ring_1d, torus_2d, mesh_2d_no_wrap
  Grid grid_of_pes() const { return flat ? Grid{pes_of_cube, 1} : Grid::near_square(pes_of_cube); }  ///< of a cube
  LaunchMemo memo;  ///< only for a shape that no longer changes
};

}  // namespace kernbench
