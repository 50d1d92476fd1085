// SPDX-License-Identifier: Apache-2.0
// Sizes of what a kernel keeps in TCM, on machines with less of it than its parameters' defaults are for.
#pragma once

#include <initializer_list>
#include <string>

#include "kernbench/kernel_api/params.h"

namespace kernbench {
class LaunchCosts;
}

namespace kernbench::kernels {

/// Defaults of the kernel are for PEs of which it has 15 MiB, as of a TCM of 16. Where some PE of the launch has less,
/// makes parameters that are as by default smaller: `bytes`, of what lies there, by that share, in units of 64;
/// `sides`, of what two of them span, by its root, in units of 16. Never below one unit, nor larger than they were.
/// `part`: of a smaller TCM, what else lies there having the rest.
void fit_in_tcm(const std::string& kernel, Params*, const LaunchCosts&, std::initializer_list<const char*> bytes,
                std::initializer_list<const char*> sides = {}, double part = 1);

}  // namespace kernbench::kernels
