// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/gemm_costs.h"

#include <algorithm>

#include "kernbench/kernel_api/collectives/grids.h"

namespace kernbench::kernels {
namespace {

/// Time per byte from a PE's DMA to a neighbour's TCM, with messages of 256 KiB.
double handed_on_ns(const ccl::Members& pes, const LaunchCosts& costs) {
  constexpr uint64_t kMessage = 256 << 10;
  if (pes.size() < 2) return 0;
  return costs.ways({{pes[0], pes[1]}}, {{}, kMessage, {}})->dearest(kMessage).total_ns / kMessage;
}

}  // namespace

double gemm_rate_ns(const MatrixProduct& p, DType dtype, const LaunchCosts& costs) {
  constexpr int64_t kSide = 256;
  const auto side = static_cast<double>(kSide);
  return costs.gemm_ns(0, {kSide, kSide, kSide}, dtype) * (static_cast<double>(p.m) / side) *
         (static_cast<double>(p.n) / side) * (static_cast<double>(p.k) / side);
}

double gemm_2d_ns(const MatrixProduct& p, DType dtype, const LaunchShape& launch, const LaunchCosts& costs) {
  const ccl::Members of_rank = ccl::group_with(launch, ccl::parse_axes("cube+pe"), 0);
  const ccl::Members in_cube = ccl::group_with(launch, ccl::parse_axes("pe"), 0);
  const ccl::Members of_places = ccl::group_with(launch, ccl::parse_axes("cube"), 0);
  const ccl::Grid pes = ccl::grid_of(launch, ccl::Axis::pe, in_cube),
                  cubes = ccl::grid_of(launch, ccl::Axis::cube, of_places);
  const auto all = static_cast<double>(launch.pes.size()), ranks = all / static_cast<double>(of_rank.size());
  const auto each = static_cast<double>(pes.cells());
  const double m = static_cast<double>(p.m) / (p.n > p.m ? 1 : ranks),
               n = static_cast<double>(p.n) / (p.n > p.m ? ranks : 1);
  const double rows = m / (static_cast<double>(cubes.h) * each), columns = n / (static_cast<double>(cubes.w) * each);
  const auto receivers = [](int64_t beside, int64_t on_the_way) {
    return static_cast<double>(beside - 1 + (on_the_way > 1 ? 1 : 0));
  };
  const double handed_on = static_cast<double>(p.k) * static_cast<double>(size_of(dtype)) *
                           (rows * receivers(pes.w, cubes.w) + columns * receivers(pes.h, cubes.h));
  return gemm_rate_ns(p, dtype, costs) / all + handed_on * handed_on_ns(of_rank, costs);
}

}  // namespace kernbench::kernels
