#include "kernbench/platform/models/model_spec.h"

#include <cmath>

namespace kernbench::models {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Slow pairs are slowed down by the factor, quick ones stay, those between are between (Llama 3.1's rule).
double stretched(double frequency, const RopeScaling& s) {
  if (s.kind == RopeScaling::Kind::none) return frequency;
  if (s.kind == RopeScaling::Kind::linear) return frequency / s.factor;
  const double turns = static_cast<double>(s.original_positions) * frequency / (2 * kPi);
  if (turns < s.low_freq_factor) return frequency / s.factor;
  if (turns > s.high_freq_factor) return frequency;
  const double quick = (turns - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return (1 - quick) * frequency / s.factor + quick * frequency;
}

}  // namespace

std::vector<double> rope_frequencies(const ModelSpec& m) {
  std::vector<double> all;
  for (int64_t i = 0; i < m.head_dim / 2; ++i)
    all.push_back(stretched(std::pow(m.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(m.head_dim)),
                            m.rope_scaling));
  return all;
}

}  // namespace kernbench::models
