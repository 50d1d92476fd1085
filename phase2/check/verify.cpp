// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/check/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/text/fields.h"

namespace kernbench::phase2 {
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

std::string told(const Mismatch& m) {
  return fmt::format("{}: {:.9g}, expected {:.9g}", m.index.to_string(), m.value, m.reference);
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

std::vector<double> values_of(DType dtype, const void* values, size_t n) {
  const auto as = [&](auto element, DType type) {
    std::vector<decltype(element)> v(n);
    convert(values, dtype, v.data(), type, n);
    return std::vector<double>(v.begin(), v.end());
  };
  return is_float(dtype) ? as(float{}, DType::f32) : as(int64_t{}, DType::i64);
}

TensorReport verify(const std::string& name, DType dtype, const Dims& shape, const void* values,
                    const ReferenceValues& ref) {
  TensorReport r = report_for(name, dtype, shape);
  const int64_t n = shape.elements();
  const auto fits = [&](const std::vector<double>& of) { return of.empty() || of.size() == ref.values.size(); };
  if (ref.values.size() != static_cast<size_t>(n) || !fits(ref.scale) || !fits(ref.away)) {
    r.reason = fmt::format("the reference has {} elements, the tensor {}", ref.values.size(), n);
    return r;
  }
  const Tolerance tol = tolerance_of(dtype);
  const auto* p = static_cast<const uint8_t*>(values);
  constexpr size_t kChunk = 4096;
  std::vector<double> chunk;
  for (int64_t i = 0; i < n; ++i) {
    const size_t in_chunk = static_cast<size_t>(i) % kChunk;
    if (in_chunk == 0)
      chunk =
          values_of(dtype, p + static_cast<size_t>(i) * size_of(dtype), std::min(kChunk, static_cast<size_t>(n - i)));
    const double v = chunk[in_chunk];
    const double want = ref.values[static_cast<size_t>(i)];
    r.nan_values += std::isnan(v);
    r.inf_values += std::isinf(v);
    r.nan_references += std::isnan(want);
    r.inf_references += std::isinf(want);
    const double scale = ref.scale.empty() ? 0.0 : ref.scale[static_cast<size_t>(i)];
    const double away = ref.away.empty() ? 0.0 : ref.away[static_cast<size_t>(i)];
    if (v == want || (std::isnan(v) && (std::isnan(want) || std::isnan(scale)))) continue;
    bool ok = false;
    if (std::isfinite(v) && std::isfinite(want)) {
      const double err = std::abs(v - want);
      r.max_abs_err = std::max(r.max_abs_err, err);
      if (want != 0) r.max_rel_err = std::max(r.max_rel_err, err / std::abs(want));
      const double most = tol.atol + tol.rtol * std::max(std::abs(want), scale) + away;
      if (most > 0) r.worst = std::max(r.worst, err / most);
      ok = err <= most;
    } else if (!std::isfinite(v) && std::isfinite(want) && is_float(dtype)) {
      uint8_t rounded[8];
      store_scalar(want, dtype, rounded);
      const double overflowed = load_scalar(rounded, dtype);
      ok = overflowed == v || (std::isnan(overflowed) && std::isnan(v));
    }
    if (ok) continue;
    ++r.mismatches;
    if (r.first.size() < kFirstFew) r.first.push_back({index_of(i, shape), v, want});
  }
  r.passed = r.mismatches == 0;
  if (!r.passed)
    r.reason = fmt::format("{} of {} elements differ, first at {}", r.mismatches, n, told(r.first.front()));
  return r;
}

TensorReport verify(const std::string& name, const MemoryImage& memory, const TensorRef& t,
                    const ReferenceValues& ref) {
  const MemoryImage::RangeState state = memory.state_of(t);
  if (state.state != MemoryImage::State::real) {
    TensorReport r = report_for(name, t.dtype, t.shape);
    r.reason = fmt::format("{} address {:#x} ", name_of(t.space), state.first_bad) +
               (state.state == MemoryImage::State::unwritten
                    ? "was never written"
                    : fmt::format("is still pending ({})", state.producer ? state.producer->name : "?"));
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
    s += fmt::format("{}  {:{}}  {} {}  max abs {:.3g}  {:.3g} % of its tolerance", r.passed ? "pass" : "FAIL", r.name,
                     width, name_of(r.dtype), r.shape.to_string(), r.max_abs_err, 100 * r.worst);
    const auto counts = [&](const char* what, uint64_t got, uint64_t want) {
      if (got || want) s += fmt::format("  {} {} (reference {})", what, got, want);
    };
    counts("NaN", r.nan_values, r.nan_references);
    counts("Inf", r.inf_values, r.inf_references);
    s += "\n";
    if (r.passed) continue;
    s += "      " + r.reason + "\n";
    for (size_t i = 1; i < r.first.size(); ++i) s += fmt::format("      at {}\n", told(r.first[i]));
  }
  return s;
}

std::optional<bool> passed(const std::vector<TensorReport>& reports) {
  if (reports.empty()) return std::nullopt;
  return std::all_of(reports.begin(), reports.end(), [](const TensorReport& t) { return t.passed; });
}

void describe_verification(Fields& f, const std::vector<TensorReport>& reports) {
  f("passed", passed(reports)).each("tensors", reports, [&](const TensorReport& t) {
    f("name", t.name)("dtype", t.dtype)("shape", t.shape)("passed", t.passed)("max_abs_err", t.max_abs_err);
    f("max_rel_err", t.max_rel_err)("mismatches", t.mismatches);
    if (!t.passed) f("reason", t.reason);
  });
}

}  // namespace kernbench::phase2
