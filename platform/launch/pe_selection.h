// SPDX-License-Identifier: Apache-2.0
// Which PEs a launch uses, and what their kernels are told of their place.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/context.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

/// Which PEs, in the words of the command line.
struct PeChoice {
  std::string pes = "all";     ///< all, leaders (the first PE of every cube), or ids separated by commas
  std::string device = "all";  ///< all, or sip:N
  /// all, N (the first N SIPs that --device leaves), or their numbers from 0: "0,2,3", "1,".
  std::string ranks = "all";
  std::string asked_as = "--pes";  ///< what `pes` is called where it was given
};

/// Indices in compiled order. InputError in the words of --pes, --device and --ranks.
std::vector<size_t> choose_pes(Machine&, const PeChoice&);

/// The rank of each of these PEs: its SIP among theirs, in compiled order (collectives rules §13.1). A SIP is what
/// has the same id up to the first dot; PEs without one are one rank.
std::vector<uint32_t> ranks_of(Machine&, const std::vector<size_t>& pes);

/// The chosen PEs and the grids that they stand in (collectives rules §12.1, §12.2). In a flat topology a SIP is
/// what has the same id up to the first dot (PEs without one are one rank), a cube what has it up to the last.
std::shared_ptr<const LaunchShape> launch_shape(Machine&, const std::vector<size_t>& pes);

/// What each of the chosen PEs is told of its place.
std::vector<tl::Program> programs_of(Machine&, const std::vector<size_t>& pes);

}  // namespace kernbench::launch
