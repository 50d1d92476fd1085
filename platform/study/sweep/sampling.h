// SPDX-License-Identifier: Apache-2.0
// Chooses the combinations of axis values that a sweep runs: all, or an evenly spread sample. The choice is the same on
// every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

enum class Method {
  grid,             ///< every combination, the last axis fastest
  latin_hypercube,  ///< n points: each axis is cut into n equal parts, and each part has one point at its centre
  sobol,            ///< the first n points of Sobol's sequence; best if n is a power of two
  one_at_a_time,    ///< first values of all axes, then each other value of one axis
};

constexpr size_t kMostPoints = 100'000;
constexpr size_t kMostSobolAxes = 20;

struct Sampling {
  Method method = Method::grid;
  size_t points = 0;  ///< for latin_hypercube and sobol, before duplicates are removed
  /// latin_hypercube: the order of the parts. sobol: shifts the points by exclusive or, which keeps their evenness. 0:
  /// the sequence as published, whose first point has the first value of every axis.
  uint64_t seed = 1;
};

/// The values of each combination, one per axis; samples have no duplicates. A list is sampled as if its values divided
/// the axis equally. InputError for more than kMostPoints.
std::vector<Words> combinations(const std::vector<Axis>&, const Sampling&);

/// Coordinate `axis` (below kMostSobolAxes) of point `n` of Sobol's sequence, times 2^32. Direction numbers of S. Joe
/// and F. Y. Kuo, new-joe-kuo-6.21201; points in natural order, not in Gray code order.
uint32_t sobol(size_t axis, uint32_t n);

}  // namespace kernbench::sweep
