#include "kernbench/platform/models/work.h"

#include <algorithm>

#include "kernbench/platform/models/quantized.h"

namespace kernbench::models {
namespace {

double number(int64_t v) {
  return static_cast<double>(v);
}

/// Keys that all queries of a sequence see together.
double keys_seen(const ModelSpec& m, int64_t first, int64_t queries) {
  double sum = 0;
  for (int64_t q = 0; q < queries; ++q) {
    const int64_t all = first + q + 1;
    sum += number(m.window > 0 ? std::min(all, m.window) : all);
  }
  return sum;
}

/// Of a matrix [k, n] of weights in this type, with its scales.
double bytes_of(const Plan& plan, DType type, int64_t k, int64_t n) {
  const auto of = [](DType t, const Dims& shape) {
    return number(static_cast<int64_t>(size_of(t)) * shape.elements());
  };
  const double values = of(type, shape_of_values(type, k, n));
  return type == plan.dtype ? values : values + of(plan.dtype, shape_of_scale(plan.group(k), k, n));
}

}  // namespace

Work layer_work(const ModelSpec& m, const Plan& plan, const Phase& p) {
  const double size = number(static_cast<int64_t>(size_of(plan.dtype)));
  // A decode's steps differ by a key each; the middle one stands for all.
  const double cached = number(p.batch) * keys_seen(m, p.context + (p.steps - 1) / 2, 1),
               keys = keys_seen(m, 0, p.tokens) + cached;
  Work w;
  w.bytes = size * number(2 * m.dim);
  const int64_t matrices[][2] = {
      {m.dim, m.qkv_width()}, {m.width(), m.dim}, {m.dim, m.hidden}, {m.dim, m.hidden}, {m.hidden, m.dim}};
  for (const auto& [k, n] : matrices) {
    w.macs += number(p.rows()) * number(k) * number(n);
    w.bytes += bytes_of(plan, plan.weights, k, n);
  }
  w.macs += 2 * keys * number(m.width());
  if (m.qkv_bias) w.bytes += size * number(m.qkv_width());
  if (!p.has_sequences()) return w;
  const double of_key = number(static_cast<int64_t>(size_of(plan.kv)) * m.kv_heads * m.head_dim);
  w.bytes += 2 * (cached + number(p.batch)) * of_key;
  if (plan.kv == DType::i8) w.bytes += number(2 * static_cast<int64_t>(sizeof(float)) * m.kv_heads);
  return w;
}

Work ends_work(const ModelSpec& m, const Plan& plan, const Phase& p) {
  const double row = number(static_cast<int64_t>(size_of(plan.dtype)) * m.dim);
  const DType head = m.tied ? plan.dtype : plan.weights;
  return {number(p.logits()) * number(m.dim) * number(m.vocab),
          bytes_of(plan, head, m.dim, m.vocab) + row * number(p.rows())};
}

}  // namespace kernbench::models
