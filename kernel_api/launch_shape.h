// The PEs of a launch and the grids that they stand in, as a kernel's wiring sees them (collectives contract §12.1, §12.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernbench {

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
  };
  std::vector<Place> pes;     ///< by tl.index()
  int64_t pes_of_cube = 1;    ///< that the machine has, in the cubes of the launch; the most of any
  Grid cubes, ranks;          ///< those of a SIP; of the tray. One row in a flat topology
  bool flat = false;          ///< a flat topology: its PEs stand in one row too
  std::string tray = "none";  ///< its shape: none, ring_1d, torus_2d, mesh_2d_no_wrap
};

}  // namespace kernbench
