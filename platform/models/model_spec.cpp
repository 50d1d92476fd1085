// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/model_spec.h"

#include <algorithm>
#include <cmath>

namespace kernbench::models {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Llama 3.1's rule: low-frequency pairs are divided by the factor, high-frequency pairs stay, those between are
/// interpolated.
double stretched(double frequency, const RopeScaling& s) {
  const double turns = static_cast<double>(s.original_positions) * frequency / (2 * kPi);
  if (turns < s.low_freq_factor) return frequency / s.factor;
  if (turns > s.high_freq_factor) return frequency;
  const double quick = (turns - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return (1 - quick) * frequency / s.factor + quick * frequency;
}

/// The same, interpolated by the pair's number (YaRN, Peng et al. 2023, as in Hugging Face's models).
double by_pairs(double frequency, int64_t pair, const ModelSpec& m) {
  const RopeScaling& s = m.rope_scaling;
  const auto dim = static_cast<double>(m.rotary);
  const auto pair_of = [&](double turns) {  // the pair that makes this many rotations in the original positions
    return dim * std::log(static_cast<double>(s.original_positions) / (turns * 2 * kPi)) / (2 * std::log(m.rope_theta));
  };
  double first = pair_of(s.beta_fast), last = pair_of(s.beta_slow);
  if (s.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, dim - 1);
  if (first == last) last += 0.001;
  const double slow = std::clamp((static_cast<double>(pair) - first) / (last - first), 0.0, 1.0);
  return slow * frequency / s.factor + (1 - slow) * frequency;
}

double scaled(double frequency, int64_t pair, int64_t positions, const ModelSpec& m) {
  switch (m.rope_scaling.kind) {
    case RopeScaling::Kind::none:
      return frequency;
    case RopeScaling::Kind::linear:
      return frequency / m.rope_scaling.factor;
    case RopeScaling::Kind::llama3:
      return stretched(frequency, m.rope_scaling);
    case RopeScaling::Kind::yarn:
      return by_pairs(frequency, pair, m);
    case RopeScaling::Kind::longrope: {
      const RopeScaling& s = m.rope_scaling;
      return frequency /
             (positions > s.original_positions ? s.long_factors : s.short_factors)[static_cast<size_t>(pair)];
    }
  }
  return frequency;
}

}  // namespace

double yarn_amplitude(double factor, double by) {
  return factor <= 1 ? 1 : 0.1 * by * std::log(factor) + 1;
}

ModelSpec turned_for_windows(ModelSpec m) {
  m.rope_theta = m.window_theta;
  m.rope_scaling = {};
  return m;
}

std::vector<double> rope_frequencies(const ModelSpec& m, int64_t positions) {
  std::vector<double> all;
  for (int64_t i = 0; i < m.rotary / 2; ++i)
    all.push_back(
        scaled(std::pow(m.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(m.rotary)), i, positions, m));
  return all;
}

}  // namespace kernbench::models
