// SPDX-License-Identifier: Apache-2.0
// Makes the kernels of this folder a plug-in.
#include "kernbench/kernel_api/plugin.h"

KERNBENCH_PLUGIN("example_kernels")
