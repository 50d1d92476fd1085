// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/eval/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"

namespace kernbench::phase2 {
namespace {

float immediate(double v, const float*) {
  return static_cast<float>(v);
}
int32_t immediate(double v, const int32_t*) {
  return wrap_i32(v);
}
int64_t immediate(double v, const int64_t*) {
  return wrap_i64(v);
}

}  // namespace

Fn fn_of(const std::string& op) {
  const MathOp* info = find_math_op(op);
  if (!info || !info->is_elementwise()) throw EvalError("'" + op + "' is no elementwise op");
  return info->fn;
}

Compute compute_type(const MathOp& op, const std::vector<EvalInput>& inputs) {
  bool any_tensor = false, wide = false, floats = op.float_only;
  for (size_t i = op.first_is_condition ? 1 : 0; i < inputs.size(); ++i) {
    const EvalInput& in = inputs[i];
    floats |= in.is_scalar ? in.scalar != std::trunc(in.scalar) || !std::isfinite(in.scalar) : is_float(in.dtype);
    any_tensor |= !in.is_scalar;
    wide |= !in.is_scalar && is_wide_integer(in.dtype) && (op.fn != Fn::umulhi || in.dtype == DType::i64);
  }
  floats |= !any_tensor;
  if (floats && op.integer_only) throw EvalError("'" + std::string(op.name) + "' takes integers");
  return floats ? Compute::f32 : wide ? Compute::i64 : Compute::i32;
}

Dims broadcast_strides(const EvalInput& in, const Dims& shape, const std::string& op) {
  Dims strides = shape;
  for (int i = 0; i < shape.rank(); ++i) strides[i] = 0;
  if (in.is_scalar) return strides;
  const int lead = shape.rank() - in.shape.rank();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < in.shape.rank(); ++i) {
    if (in.shape[i] == shape[lead + i]) {
      strides[lead + i] = in.strides[i];
    } else {
      fits = in.shape[i] == 1;
    }
  }
  if (!fits) {
    throw EvalError(op + ": operand of shape " + in.shape.to_string() + " does not broadcast to " + shape.to_string());
  }
  return strides;
}

Walk::Walk(const Dims& shape, const std::vector<Dims>& strides) : strides_(strides.size()) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    const int last = shape_.rank() - 1;
    bool joins = last >= 0;
    for (size_t j = 0; joins && j < strides.size(); ++j) joins = strides_[j][last] == strides[j][i] * shape[i];
    if (joins) {
      shape_[last] *= shape[i];
      for (size_t j = 0; j < strides.size(); ++j) strides_[j][last] = strides[j][i];
    } else {
      shape_.push_back(shape[i]);
      for (size_t j = 0; j < strides.size(); ++j) strides_[j].push_back(strides[j][i]);
    }
  }
  if (shape_.rank() > 0) return;
  shape_.push_back(1);
  for (Dims& s : strides_) s.push_back(0);
}

int64_t Walk::run(int64_t at, int64_t most) const {
  const int64_t inner = shape_[shape_.rank() - 1];
  return std::min(inner - at % inner, most);
}

int64_t Walk::offset(size_t operand, int64_t at) const {
  int64_t offset = 0;
  for (int d = shape_.rank() - 1; d >= 0; --d) {
    offset += at % shape_[d] * strides_[operand][d];
    at /= shape_[d];
  }
  return offset;
}

template <class T>
const T* fetch_block(const Arithmetic& arithmetic, const EvalInput& in, int64_t offset, int64_t stride, size_t n,
                     bool condition, T* buffer) {
  if (in.is_scalar) {
    std::fill_n(buffer, n, condition ? static_cast<T>(in.scalar != 0) : immediate(in.scalar, buffer));
    return buffer;
  }
  const size_t item = size_of(in.dtype);
  const uint8_t* from = in.data + offset * static_cast<int64_t>(item);
  if (is_itself<T>(in.dtype, from) && stride == 1 && !condition) return reinterpret_cast<const T*>(from);
  uint8_t line[kBlock * 8];
  const size_t distinct = stride == 0 ? 1 : n;
  if (stride != 1 && stride != 0) {
    for (size_t i = 0; i < n; ++i) {
      std::memcpy(line + i * item, from + static_cast<int64_t>(i) * stride * static_cast<int64_t>(item), item);
    }
    from = line;
  }
  if (condition) {
    uint8_t on[kBlock];
    nonzero(from, in.dtype, on, distinct);
    for (size_t i = 0; i < distinct; ++i) buffer[i] = on[i];
  } else {
    widen(arithmetic, from, in.dtype, buffer, distinct);
  }
  if (stride == 0) std::fill_n(buffer, n, buffer[0]);
  return buffer;
}

template const float* fetch_block(const Arithmetic&, const EvalInput&, int64_t, int64_t, size_t, bool, float*);
template const int32_t* fetch_block(const Arithmetic&, const EvalInput&, int64_t, int64_t, size_t, bool, int32_t*);
template const int64_t* fetch_block(const Arithmetic&, const EvalInput&, int64_t, int64_t, size_t, bool, int64_t*);

}  // namespace kernbench::phase2
