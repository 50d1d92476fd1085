// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::sweep {
namespace {

/// A primitive polynomial's degree, its inner coefficients as bits, and its first direction numbers.
struct Directions {
  uint32_t degree, inner;
  std::array<uint32_t, 7> first;
};

// Of Joe and Kuo, from the second axis on.
constexpr std::array<Directions, kMostSobolAxes - 1> kDirections = {{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
}};

/// v_1 … v_32 of an axis, each times 2^32.
std::array<uint32_t, 32> direction_numbers(size_t axis) {
  std::array<uint32_t, 32> v{};
  if (axis == 0) {
    for (uint32_t i = 0; i < 32; ++i) v[i] = 1u << (31 - i);
    return v;
  }
  const Directions& d = kDirections[axis - 1];
  for (uint32_t i = 0; i < 32; ++i) {
    if (i < d.degree) {
      v[i] = d.first[i] << (31 - i);
      continue;
    }
    v[i] = v[i - d.degree] ^ (v[i - d.degree] >> d.degree);
    for (uint32_t k = 1; k < d.degree; ++k) {
      if ((d.inner >> (d.degree - 1 - k)) & 1) v[i] ^= v[i - k];
    }
  }
  return v;
}

std::vector<Words> grid(const std::vector<Axis>& axes) {
  size_t points = 1;
  for (const Axis& a : axes) {
    points *= a.values.size();
    if (points > kMostPoints) throw InputError(fmt::format("sweep: more than {} combinations", kMostPoints));
  }
  std::vector<Words> all(points, Words(axes.size()));
  for (size_t n = 0; n < points; ++n) {
    for (size_t a = axes.size(), rest = n; a-- > 0; rest /= axes[a].values.size())
      all[n][a] = axes[a].values[rest % axes[a].values.size()];
  }
  return all;
}

std::vector<Words> one_at_a_time(const std::vector<Axis>& axes) {
  Words first;
  for (const Axis& a : axes) first.push_back(a.values.front());
  std::vector<Words> all = {first};
  for (size_t a = 0; a < axes.size(); ++a) {
    for (size_t i = 1; i < axes[a].values.size(); ++i) {
      all.push_back(first);
      all.back()[a] = axes[a].values[i];
    }
  }
  return all;
}

/// The value at position 0 ≤ p < 1 of the axis.
std::string value_at(const Axis& a, double place) {
  if (a.range) return topology::number_text(a.range->first + place * (a.range->second - a.range->first));
  const auto size = static_cast<double>(a.values.size());
  return a.values[std::min(static_cast<size_t>(place * size), a.values.size() - 1)];
}

/// 0 … n - 1, shuffled (Fisher and Yates). Distributions of <random> may differ between implementations.
std::vector<size_t> shuffled(size_t n, uint64_t seed) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = n; i-- > 1;) std::swap(order[i], order[random_word(seed, i) % (i + 1)]);
  return order;
}

/// For each axis, the position of each point.
std::vector<std::vector<double>> places(size_t axes, const Sampling& s) {
  std::vector<std::vector<double>> all(axes, std::vector<double>(s.points));
  for (size_t a = 0; a < axes; ++a) {
    const uint64_t seed = random_word(s.seed, a);
    if (s.method == Method::latin_hypercube) {
      const std::vector<size_t> parts = shuffled(s.points, seed);
      for (size_t n = 0; n < s.points; ++n)
        all[a][n] = (static_cast<double>(parts[n]) + 0.5) / static_cast<double>(s.points);
    } else {
      const uint32_t shift = s.seed == 0 ? 0 : static_cast<uint32_t>(seed >> 32);
      for (size_t n = 0; n < s.points; ++n) all[a][n] = (sobol(a, static_cast<uint32_t>(n)) ^ shift) * 0x1p-32;
    }
  }
  return all;
}

}  // namespace

uint32_t sobol(size_t axis, uint32_t n) {
  static const auto kAll = [] {
    std::array<std::array<uint32_t, 32>, kMostSobolAxes> all;
    for (size_t a = 0; a < kMostSobolAxes; ++a) all[a] = direction_numbers(a);
    return all;
  }();
  uint32_t x = 0;
  for (size_t bit = 0; n != 0; ++bit, n >>= 1) {
    if (n & 1) x ^= kAll.at(axis)[bit];
  }
  return x;
}

std::vector<Words> combinations(const std::vector<Axis>& axes, const Sampling& s) {
  if (s.method == Method::grid) return grid(axes);
  if (s.method == Method::one_at_a_time) return one_at_a_time(axes);
  const auto place = places(axes.size(), s);
  std::vector<Words> all;
  std::set<Words> seen;
  for (size_t n = 0; n < s.points; ++n) {
    Words values;
    for (size_t a = 0; a < axes.size(); ++a) values.push_back(value_at(axes[a], place[a][n]));
    if (seen.insert(values).second) all.push_back(std::move(values));
  }
  return all;
}

}  // namespace kernbench::sweep
