// The PEs of a launch and the grids that they stand in, as a kernel's wiring sees them (collectives contract §12.1,
// §12.2).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kernbench {

/// What is worked out from a launch's shape for all of its PEs at once, by a text that says what it is.
class LaunchMemo {
 public:
  LaunchMemo() = default;
  LaunchMemo(const LaunchMemo&) {}  // a copy may become another shape
  LaunchMemo& operator=(const LaunchMemo&) {
    kept_.clear();
    return *this;
  }
  /// What `make()` has given for this text; it stays as long as the shape.
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
  /// One PE of the launch: where it is among the launched ones, and (`…_place`) in the machine: the PE in its cube, the
  /// cube in its SIP, the SIP in the machine.
  struct Place {
    int64_t pe = 0, cube = 0, rank = 0;
    int64_t pe_place = 0, cube_place = 0, rank_place = 0;
    std::string id;  ///< "sip0.cube0.pe0"
  };
  struct Grid {
    int64_t w = 1, h = 1;
    /// So many in rows of cells / h, h the largest divisor that is ≤ √cells.
    static Grid near_square(int64_t cells) {
      int64_t h = 1;
      for (int64_t d = 1; d * d <= cells; ++d) {
        if (cells % d == 0) h = d;
      }
      return {cells / h, h};
    }
  };
  std::vector<Place> pes;     ///< by tl.index()
  int64_t pes_of_cube = 1;    ///< that the machine has, in the cubes of the launch; the most of any
  Grid cubes, ranks;          ///< those of a SIP; of the tray. One row in a flat topology
  bool flat = false;          ///< a flat topology: its PEs stand in one row too
  std::string tray = "none";  ///< its shape: none, ring_1d, torus_2d, mesh_2d_no_wrap
  Grid grid_of_pes() const { return flat ? Grid{pes_of_cube, 1} : Grid::near_square(pes_of_cube); }  ///< of a cube
  LaunchMemo memo;  ///< of a shape that does not change any more
};

}  // namespace kernbench
