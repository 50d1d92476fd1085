#include "kernbench/phase2/eval/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "kernbench/phase2/eval/convert.h"

namespace kernbench {
namespace {

constexpr std::pair<std::string_view, Fn> kNames[] = {
    {"copy", Fn::copy},       {"cast", Fn::copy},   {"exp", Fn::exp},     {"log", Fn::log},
    {"sqrt", Fn::sqrt},       {"rsqrt", Fn::rsqrt}, {"erf", Fn::erf},     {"sigmoid", Fn::sigmoid},
    {"tanh", Fn::tanh},       {"abs", Fn::abs},     {"neg", Fn::neg},     {"relu", Fn::relu},
    {"gelu", Fn::gelu},       {"silu", Fn::silu},   {"floor", Fn::floor}, {"add", Fn::add},
    {"sub", Fn::sub},         {"mul", Fn::mul},     {"div", Fn::div},     {"maximum", Fn::maximum},
    {"minimum", Fn::minimum}, {"lt", Fn::lt},       {"le", Fn::le},       {"gt", Fn::gt},
    {"ge", Fn::ge},           {"eq", Fn::eq},       {"ne", Fn::ne},       {"where", Fn::where},
    {"fma", Fn::fma},         {"clamp", Fn::clamp},
};

void widen(const Arithmetic& arithmetic, const void* in, DType t, float* out, size_t n) {
  arithmetic.to_f32(in, t, out, n);
}
void widen(const Arithmetic& arithmetic, const void* in, DType t, int32_t* out, size_t n) {
  arithmetic.to_i32(in, t, out, n);
}
float immediate(double v, const float*) {
  return static_cast<float>(v);
}
int32_t immediate(double v, const int32_t*) {
  return wrap_i32(v);
}

}  // namespace

Fn fn_of(const std::string& op) {
  for (const auto& [name, fn] : kNames) {
    if (name == op) return fn;
  }
  throw EvalError("'" + op + "' is no elementwise op");
}

Compute compute_type(const MathOp& op, const std::vector<EvalInput>& inputs) {
  if (op.float_only) return Compute::f32;
  bool any_tensor = false;
  for (size_t i = op.first_is_condition ? 1 : 0; i < inputs.size(); ++i) {
    const EvalInput& in = inputs[i];
    if (in.is_scalar ? in.scalar != std::trunc(in.scalar) || !std::isfinite(in.scalar) : is_float(in.dtype)) {
      return Compute::f32;
    }
    any_tensor |= !in.is_scalar;
  }
  return any_tensor ? Compute::i32 : Compute::f32;
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
  uint8_t line[kBlock * 4];
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

}  // namespace kernbench
