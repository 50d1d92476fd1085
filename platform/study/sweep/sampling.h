// SPDX-License-Identifier: Apache-2.0
// Which combinations of the axes' values a sweep does: all of them, or a sample that fills their space evenly. The same
// on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

enum class Method {
  grid,             ///< every combination, the last axis fastest
  latin_hypercube,  ///< n points: each axis is cut into n equal parts, and each part has one point in its middle
  sobol,            ///< the first n points of Sobol's sequence; best where n is a power of two
  one_at_a_time,    ///< the first value of every axis, then each other value of one axis beside the others' first
};

constexpr size_t kMostPoints = 100'000;
constexpr size_t kMostSobolAxes = 20;

struct Sampling {
  Method method = Method::grid;
  size_t points = 0;  ///< of latin_hypercube and sobol, before equal ones are taken as one
  /// Of latin_hypercube: the parts' order. Of sobol: a shift of its points by exclusive or, which keeps how evenly they
  /// lie; 0: none, the sequence as it was published, whose first point is every axis' first value.
  uint64_t seed = 1;
};

/// Values of each combination, one an axis, none twice where they are sampled. A list is sampled as if its values
/// shared the axis equally. InputError for more than kMostPoints.
std::vector<Words> combinations(const std::vector<Axis>&, const Sampling&);

/// Coordinate `axis` (below kMostSobolAxes) of point `n` of Sobol's sequence, times 2^32: direction numbers of S. Joe
/// and F. Y. Kuo, new-joe-kuo-6.21201; points in the order of their numbers, not of Gray's code.
uint32_t sobol(size_t axis, uint32_t n);

}  // namespace kernbench::sweep
