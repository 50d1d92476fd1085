// SPDX-License-Identifier: Apache-2.0
// Estimated times of matrix products without contention, for advice. All times are ns.
#pragma once

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/kernel_api/launch_shape.h"

namespace kernbench::kernels {

/// On one pe_gemm at its rate, which is that of a product of 256 x 256 x 256.
double gemm_rate_ns(const MatrixProduct&, DType, const LaunchCosts&);

/// By gemm_2d on the launch's PEs; the ranks split the longer side of c. It is the time at the PEs' GEMM rate plus the
/// time of a PE's DMA for its messages: rows of a to the PEs of its row and to the next cube, columns of b to those of
/// its column and to the next cube. Some messages overlap with products and some products wait, so this is an estimate.
/// On default.yaml it is within a quarter of the simulated time.
double gemm_2d_ns(const MatrixProduct&, DType, const LaunchShape&, const LaunchCosts&);

}  // namespace kernbench::kernels
