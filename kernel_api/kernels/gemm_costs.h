// SPDX-License-Identifier: Apache-2.0
// What matrix products take when nothing is in their way: for advice. All times are ns.
#pragma once

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/kernel_api/launch_shape.h"

namespace kernbench::kernels {

/// On one pe_gemm at its rate: that of a product of 256 x 256 x 256.
double gemm_rate_ns(const MatrixProduct&, DType, const LaunchCosts&);

/// By gemm_2d on the launch's PEs, the ranks sharing out the longer side of c, by this rule: the time at the PEs' GEMM
/// rate, and behind it what a PE's DMA takes to hand its rows of a to the PEs of its row and to the next cube, and its
/// columns of b to those of its column and to the next cube. Part of that is hidden behind products, and part of the
/// products waits: on default.yaml it is within a quarter of what is simulated.
double gemm_2d_ns(const MatrixProduct&, DType, const LaunchShape&, const LaunchCosts&);

}  // namespace kernbench::kernels
