// SPDX-License-Identifier: Apache-2.0
#define KERNBENCH_SET arithmetic_portable
#define Eigen Eigen_portable
#include "kernbench/phase2/eval/arithmetic.inc"
