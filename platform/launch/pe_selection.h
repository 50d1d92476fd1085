// Which PEs a launch uses, and what their kernels are told of their place.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/context.h"

namespace kernbench {

class Machine;

/// PEs by "all" or ids separated by commas, and by device ("all" or "sip:N"): indices in compiled order. InputError in
/// the words of the command line's --pes and --device.
std::vector<size_t> choose_pes(Machine&, const std::string& pes, const std::string& device);

/// The chosen PEs and the grids that they stand in (collectives contract §12.1, §12.2). In a flat topology a SIP is what
/// has the same id up to the first dot (PEs without one are one rank), a cube what has it up to the last.
std::shared_ptr<const LaunchShape> launch_shape(Machine&, const std::vector<size_t>& pes);

/// What each of the chosen PEs is told of its place.
std::vector<tl::Program> programs_of(Machine&, const std::vector<size_t>& pes);

}  // namespace kernbench
