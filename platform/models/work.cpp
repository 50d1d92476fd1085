// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/work.h"

#include <algorithm>

#include "kernbench/platform/models/quantized.h"

namespace kernbench::models {
namespace {

double number(int64_t v) {
  return static_cast<double>(v);
}

/// Keys that all queries of a sequence see in total.
double keys_seen(int64_t window, int64_t first, int64_t queries) {
  double sum = 0;
  for (int64_t q = 0; q < queries; ++q) {
    const int64_t all = first + q + 1;
    sum += number(window > 0 ? std::min(all, window) : all);
  }
  return sum;
}

/// Bytes of a weight matrix [k, n] in this type, with its scales.
double bytes_of(const Plan& plan, DType type, int64_t k, int64_t n) {
  const auto of = [](DType t, const Dims& shape) {
    return number(static_cast<int64_t>(size_of(t)) * shape.elements());
  };
  const double values = of(type, shape_of_values(type, k, n));
  return type == plan.dtype ? values : values + of(plan.dtype, shape_of_scale(plan.group(k), k, n));
}

}  // namespace

Work layer_work(const ModelSpec& m, const Plan& plan, const Phase& p, int64_t layer, double chosen) {
  const double size = number(static_cast<int64_t>(size_of(plan.dtype)));
  // A decode's steps differ by one key each; the middle step represents all.
  const int64_t window = m.window_of(layer);
  const double cached = number(p.batch) * keys_seen(window, p.context + (p.steps - 1) / 2, 1),
               keys = keys_seen(window, 0, p.tokens) + cached;
  Work w;
  w.bytes = size * number(((m.one_norm ? 1 : 2) * (m.layer_norm ? 2 : 1) + (m.post_norms ? 2 : 0)) * m.dim);
  /// Each row meets `of_row` such matrices; `there` of them are read in total.
  const auto add = [&](DType type, int64_t k, int64_t n, double of_row = 1, double there = 1) {
    w.macs += number(p.rows()) * of_row * number(k) * number(n);
    w.bytes += there * bytes_of(plan, type, k, n);
  };
  add(plan.weights, m.dim, m.qkv_width());
  add(plan.weights, m.width(), m.dim);
  if (m.experts > 0) add(plan.dtype, m.dim, m.experts);
  const double of_row = m.experts > 0 ? number(m.experts_per_token) : 1, there = m.experts > 0 ? chosen : 1;
  const double into_hidden = m.gated ? 2 : 1;
  add(plan.weights, m.dim, m.hidden, into_hidden * of_row, into_hidden * there);
  add(plan.weights, m.hidden, m.dim, of_row, there);
  w.macs += 2 * keys * number(m.width());
  if (m.qkv_bias) w.bytes += size * number(m.qkv_width());
  if (m.o_bias) w.bytes += size * number(m.dim);
  if (m.mlp_bias) w.bytes += size * (into_hidden * number(m.hidden) + number(m.dim));
  if (m.sinks) w.bytes += size * number(m.heads);
  if (m.expert_bias) w.bytes += size * (number(m.experts) + chosen * number(2 * m.hidden + m.dim));
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
