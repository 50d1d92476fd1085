// SPDX-License-Identifier: Apache-2.0
// Selects the PEs of a launch, and computes their kernels' coordinates.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/context.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

/// The PEs as written on the command line.
struct PeChoice {
  std::string pes = "all";     ///< all, leaders (the first PE of every cube), or comma-separated ids
  std::string device = "all";  ///< all, or sip:N
  /// all, N (the first N SIPs of --device), or their numbers from 0: "0,2,3", "1,".
  std::string ranks = "all";
  std::string asked_as = "--pes";  ///< name of the option or field of `pes`
};

/// Indices in compiled order. InputError, naming --pes, --device or --ranks.
std::vector<size_t> choose_pes(Machine&, const PeChoice&);

/// The rank of each of these PEs: the number of its SIP among theirs, in compiled order (collectives rules §13.1). PEs
/// of a SIP share the id up to the first dot; PEs without a dot form one rank.
std::vector<uint32_t> ranks_of(Machine&, const std::vector<size_t>& pes);

/// The chosen PEs and their grids (collectives rules §12.1, §12.2). In a flat topology PEs of a SIP share the id up to
/// the first dot, PEs of a cube up to the last dot. PEs without a dot form one rank.
std::shared_ptr<const LaunchShape> launch_shape(Machine&, const std::vector<size_t>& pes);

/// The coordinates of each chosen PE, for its kernel.
std::vector<tl::Program> programs_of(Machine&, const std::vector<size_t>& pes);

}  // namespace kernbench::launch
