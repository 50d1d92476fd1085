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

/// Ranks of the chosen PEs, in all and in their cubes.
std::vector<tl::Program> programs_of(Machine&, const std::vector<size_t>& pes);

}  // namespace kernbench
