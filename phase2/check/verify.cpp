#include "kernbench/phase2/check/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernbench/phase2/eval/convert.h"

namespace kernbench {
namespace {

constexpr size_t kFirstFew = 5;

Dims index_of(int64_t i, const Dims& shape) {
  Dims at = shape;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at[d] = i % shape[d];
    i /= shape[d];
  }
  return at;
}

std::string format(const char* form, double v) {
  char buf[48];
  snprintf(buf, sizeof buf, form, v);
  return buf;
}

TensorReport report_for(const std::string& name, DType dtype, const Dims& shape) {
  TensorReport r;
  r.name = name;
  r.dtype = dtype;
  r.shape = shape;
  return r;
}

}  // namespace

Tolerance tolerance_of(DType t) {
  switch (t) {
    case DType::f32:
      return {1e-5, 1e-5};
    case DType::f16:
      return {1e-3, 1e-3};
    case DType::bf16:
      return {1e-2, 1e-2};
    case DType::f8e4m3:
      return {1.0 / 16, 1.0 / 16};
    case DType::f8e5m2:
      return {1.0 / 8, 1.0 / 8};
    default:
      return {};
  }
}

TensorReport verify(const std::string& name, DType dtype, const Dims& shape, const void* values,
                    const ReferenceValues& ref) {
  TensorReport r = report_for(name, dtype, shape);
  const int64_t n = shape.elements();
  if (ref.values.size() != static_cast<size_t>(n) || (!ref.scale.empty() && ref.scale.size() != ref.values.size())) {
    r.reason = "the reference has " + std::to_string(ref.values.size()) + " elements, the tensor " + std::to_string(n);
    return r;
  }
  const Tolerance tol = tolerance_of(dtype);
  const auto* p = static_cast<const uint8_t*>(values);
  constexpr size_t kChunk = 4096;
  std::vector<float> floats(is_float(dtype) ? kChunk : 0);
  std::vector<int32_t> ints(is_float(dtype) ? 0 : kChunk);
  for (int64_t i = 0; i < n; ++i) {
    const size_t in_chunk = static_cast<size_t>(i) % kChunk;
    if (in_chunk == 0) {
      const size_t len = std::min(kChunk, static_cast<size_t>(n - i));
      const uint8_t* from = p + static_cast<size_t>(i) * size_of(dtype);
      if (is_float(dtype)) {
        convert(from, dtype, floats.data(), DType::f32, len);
      } else {
        convert(from, dtype, ints.data(), DType::i32, len);
      }
    }
    const double v = is_float(dtype) ? static_cast<double>(floats[in_chunk]) : ints[in_chunk];
    const double want = ref.values[static_cast<size_t>(i)];
    r.nan_values += std::isnan(v);
    r.inf_values += std::isinf(v);
    r.nan_references += std::isnan(want);
    r.inf_references += std::isinf(want);
    if (v == want || (std::isnan(v) && std::isnan(want))) continue;
    bool ok = false;
    if (std::isfinite(v) && std::isfinite(want)) {
      const double err = std::abs(v - want);
      r.max_abs_err = std::max(r.max_abs_err, err);
      if (want != 0) r.max_rel_err = std::max(r.max_rel_err, err / std::abs(want));
      const double scale = ref.scale.empty() ? 0.0 : ref.scale[static_cast<size_t>(i)];
      ok = err <= tol.atol + tol.rtol * std::max(std::abs(want), scale);
    } else if (!std::isfinite(v) && std::isfinite(want) && is_float(dtype)) {
      uint8_t rounded[4];
      store_scalar(want, dtype, rounded);
      const double overflowed = load_scalar(rounded, dtype);
      ok = overflowed == v || (std::isnan(overflowed) && std::isnan(v));
    }
    if (ok) continue;
    ++r.mismatches;
    if (r.first.size() < kFirstFew) r.first.push_back({index_of(i, shape), v, want});
  }
  r.passed = r.mismatches == 0;
  if (!r.passed) {
    const Mismatch& m = r.first.front();
    r.reason = std::to_string(r.mismatches) + " of " + std::to_string(n) + " elements differ, first at " +
               m.index.to_string() + ": " + format("%.9g", m.value) + ", expected " + format("%.9g", m.reference);
  }
  return r;
}

TensorReport verify(const std::string& name, const MemoryImage& memory, const TensorRef& t,
                    const ReferenceValues& ref) {
  const MemoryImage::RangeState state = memory.state_of(t);
  if (state.state != MemoryImage::State::real) {
    TensorReport r = report_for(name, t.dtype, t.shape);
    char hex[24];
    snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(state.first_bad));
    r.reason = std::string(name_of(t.space)) + " address " + hex +
               (state.state == MemoryImage::State::unwritten
                    ? " was never written"
                    : " is still pending (" + (state.producer ? state.producer->name : std::string("?")) + ")");
    return r;
  }
  const Bytes bytes = memory.gather(t);
  return verify(name, t.dtype, t.shape, bytes.data(), ref);
}

std::string to_text(const std::vector<TensorReport>& reports) {
  size_t width = 0;
  for (const TensorReport& r : reports) width = std::max(width, r.name.size());
  std::string s;
  for (const TensorReport& r : reports) {
    s += (r.passed ? "pass  " : "FAIL  ") + r.name + std::string(width - r.name.size(), ' ') + "  " +
         std::string(name_of(r.dtype)) + " " + r.shape.to_string() + "  max abs " + format("%.3g", r.max_abs_err) +
         "  max rel " + format("%.3g", r.max_rel_err);
    const auto counts = [&](const char* what, uint64_t got, uint64_t want) {
      if (got || want)
        s += std::string("  ") + what + " " + std::to_string(got) + " (reference " + std::to_string(want) + ")";
    };
    counts("NaN", r.nan_values, r.nan_references);
    counts("Inf", r.inf_values, r.inf_references);
    s += "\n";
    if (r.passed) continue;
    s += "      " + r.reason + "\n";
    for (size_t i = 1; i < r.first.size(); ++i) {
      s += "      at " + r.first[i].index.to_string() + ": " + format("%.9g", r.first[i].value) + ", expected " +
           format("%.9g", r.first[i].reference) + "\n";
    }
  }
  return s;
}

}  // namespace kernbench
