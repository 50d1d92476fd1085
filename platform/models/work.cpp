#include "kernbench/platform/models/work.h"

#include <algorithm>

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

}  // namespace

Work layer_work(const ModelSpec& m, const Plan& plan, const Phase& p, double chosen) {
  const double size = number(static_cast<int64_t>(size_of(plan.dtype)));
  const double mlp = 3 * number(m.dim) * number(m.hidden);
  const double others = number(m.dim) * number(m.qkv_width() + m.width() + m.experts);  // and the router
  const bool one = m.experts == 0;
  Work w;
  // A decode's steps differ by a key each; the middle one stands for all.
  const double keys =
      p.prefill() ? keys_seen(m, 0, p.tokens) : number(p.batch) * keys_seen(m, p.context + (p.steps - 1) / 2, 1);
  w.macs = number(p.rows()) * (others + (one ? mlp : number(m.experts_per_token) * mlp)) + 2 * keys * number(m.width());
  w.bytes = size * (others + (one ? mlp : chosen * mlp) + number(2 * m.dim));
  if (m.qkv_bias) w.bytes += size * number(m.qkv_width());
  if (!p.prefill()) w.bytes += size * 2 * (keys + number(p.batch)) * number(m.kv_heads * m.head_dim);
  return w;
}

Work ends_work(const ModelSpec& m, const Plan& plan, const Phase& p) {
  const double size = number(static_cast<int64_t>(size_of(plan.dtype)));
  const double rows = p.prefill() ? 1 : number(p.batch);
  return {rows * number(m.dim) * number(m.vocab), size * number(m.dim) * (number(m.vocab) + number(p.rows()))};
}

}  // namespace kernbench::models
