// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/host_tensor.h"

#include <stdexcept>

#include "kernbench/phase2/eval/convert.h"

namespace kernbench {

namespace {

template <class T>
HostTensor converted(DType t, const Dims& s, const std::vector<T>& values, DType from) {
  HostTensor h(t, s);
  if (static_cast<int64_t>(values.size()) != h.elements()) {
    throw std::invalid_argument(std::to_string(values.size()) + " values for a tensor of shape " + s.to_string());
  }
  convert(values.data(), from, h.bytes.data(), t, values.size());
  return h;
}

}  // namespace

HostTensor::HostTensor(DType t, const Dims& s) : dtype(t), shape(s) {
  bytes.resize(static_cast<size_t>(s.elements()) * size_of(t));
}

HostTensor HostTensor::from(DType t, const Dims& s, const std::vector<float>& values) {
  return converted(t, s, values, DType::f32);
}

HostTensor HostTensor::from(DType t, const Dims& s, const std::vector<int32_t>& values) {
  return converted(t, s, values, DType::i32);
}

std::vector<float> HostTensor::floats() const {
  std::vector<float> v(static_cast<size_t>(elements()));
  convert(bytes.data(), dtype, v.data(), DType::f32, v.size());
  return v;
}

std::vector<int32_t> HostTensor::ints() const {
  std::vector<int32_t> v(static_cast<size_t>(elements()));
  convert(bytes.data(), dtype, v.data(), DType::i32, v.size());
  return v;
}

void round_to(DType t, float* values, size_t n) {
  if (t == DType::f32) return;
  Bytes stored(n * size_of(t));
  convert(values, DType::f32, stored.data(), t, n);
  convert(stored.data(), t, values, DType::f32, n);
}

}  // namespace kernbench
