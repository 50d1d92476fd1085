// SPDX-License-Identifier: Apache-2.0
// Reduces a kernel's buffer sizes on machines with less TCM than the parameters' defaults assume.
#pragma once

#include <initializer_list>
#include <string>

#include "kernbench/kernel_api/params.h"

namespace kernbench {
class LaunchCosts;
}

namespace kernbench::kernels {

/// The defaults assume PEs with 15 MiB of allocatable TCM, as in a TCM of 16 MiB. If a PE of the launch has less,
/// parameters with default values shrink. `bytes` are sizes in TCM and shrink in proportion, in units of 64. `sides`
/// are lengths whose product lies in TCM and shrink with the square root, in units of 16. None shrinks below one unit
/// or grows. `part`: the fraction of a smaller TCM that is available, because other data needs the rest.
void fit_in_tcm(const std::string& kernel, Params*, const LaunchCosts&, std::initializer_list<const char*> bytes,
                std::initializer_list<const char*> sides = {}, double part = 1);

}  // namespace kernbench::kernels
