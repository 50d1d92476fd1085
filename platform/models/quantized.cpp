// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/quantized.h"

#include <algorithm>
#include <cmath>

#include "kernbench/phase2/eval/convert.h"

namespace kernbench::models {
namespace {

HostTensor packed(const Dims& shape, const std::vector<float>& rows, int64_t n) {
  HostTensor t(DType::i4, shape);
  const auto columns = static_cast<size_t>(n), width = static_cast<size_t>(shape[1]);
  std::vector<int8_t> row(2 * width);
  for (size_t k = 0; k < rows.size() / columns; ++k) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(k * columns), columns, row.begin());
    pack(row.data(), DType::i4, t.bytes.data() + k * width, width);
  }
  return t;
}

}  // namespace

Dims shape_of_values(DType t, int64_t k, int64_t n) {
  return {k, (n + values_in(t) - 1) / values_in(t)};
}

Dims shape_of_scale(int64_t group, int64_t k, int64_t n) {
  return {group == 0 ? 1 : (k + group - 1) / group, n};
}

Quantized quantize(const HostTensor& w, DType type, int64_t group, DType scale_type) {
  const int64_t k = w.shape[0], n = w.shape[1], of_group = group == 0 ? k : group;
  std::vector<float> values = w.floats();
  const Dims scales = shape_of_scale(group, k, n);
  const auto most = static_cast<float>(largest_of(type));
  std::vector<float> scale(static_cast<size_t>(scales.elements()));
  const auto scale_at = [&](size_t i) -> float& {
    const auto row = static_cast<int64_t>(i) / n, column = static_cast<int64_t>(i) % n;
    return scale[static_cast<size_t>(row / of_group * n + column)];
  };
  for (size_t i = 0; i < values.size(); ++i) scale_at(i) = std::max(scale_at(i), std::abs(values[i]) / most);
  Quantized q;
  q.scale = HostTensor::from(scale_type, scales, scale);
  scale = q.scale.floats();
  for (size_t i = 0; i < values.size(); ++i) {
    const float by = scale_at(i), v = by == 0 ? 0 : values[i] / by;
    values[i] = std::clamp(is_float(type) ? v : std::nearbyint(v), -most, most);
  }
  const Dims shape = shape_of_values(type, k, n);
  q.values = type == DType::i4 ? packed(shape, values, n) : HostTensor::from(type, shape, values);
  return q;
}

}  // namespace kernbench::models
