// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/service/step_prices.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernbench::service {
namespace {

constexpr int64_t kLongestPrefill = 4096;

double between(double x, double x0, double y0, double x1, double y1) {
  return x1 > x0 ? y0 + (x - x0) / (x1 - x0) * (y1 - y0) : y0;
}

}  // namespace

models::Phase StepClass::phase(int64_t page) const {
  if (prefill == 0) return models::parse_phase(fmt::format("decode:batch={},context={},page={}", batch, context, page));
  if (batch == 0) return models::parse_phase(fmt::format("prefill:{}", prefill));
  return models::parse_phase(
      fmt::format("mixed:prefill={},batch={},context={},page={}", prefill, batch, context, page));
}

StepPrices::StepPrices(Simulate simulate, int64_t positions, int64_t page)
    : simulate_(std::move(simulate)), page_(page) {
  for (int64_t n : {1, 16, 64, 128, 256, 512, 1024, 2048, 4096}) {
    if (n <= std::min(positions, kLongestPrefill)) lengths_.push_back(n);
  }
  if (positions < kLongestPrefill && lengths_.back() < positions) lengths_.push_back(positions);
  contexts_.push_back(1);
  for (int64_t c = 64; c < positions - 1; c *= 4) contexts_.push_back(c);
  if (contexts_.back() < positions - 1) contexts_.push_back(positions - 1);
}

std::pair<int64_t, int64_t> StepPrices::around(const std::vector<int64_t>& grid, int64_t v) {
  const auto above = std::lower_bound(grid.begin(), grid.end(), v);
  if (above != grid.end() && (*above == v || above == grid.begin())) return {*above, *above};
  if (above == grid.end()) return grid.size() > 1 ? std::pair(grid[grid.size() - 2], grid.back()) : std::pair(v, v);
  return {*(above - 1), *above};
}

void StepPrices::simulate_missing(const std::vector<Key>& keys) {
  std::vector<Key> missing;
  std::vector<models::Phase> phases;
  for (const Key& k : keys) {
    if (known_.count(k) > 0 || std::find(missing.begin(), missing.end(), k) != missing.end()) continue;
    const auto [prefill, batch, context] = k;
    missing.push_back(k);
    phases.push_back(StepClass{prefill, batch, context}.phase(page_));
  }
  if (missing.empty()) return;
  const std::vector<PhasePrice> found = simulate_(phases);
  for (size_t i = 0; i < missing.size(); ++i) known_[missing[i]] = found.at(i);
}

PhasePrice StepPrices::decode(int64_t batch, int64_t context) const {
  const auto [c0, c1] = around(contexts_, context);
  const PhasePrice &a = known_.at({0, batch, c0}), &b = known_.at({0, batch, c1});
  const auto at = [&, low = c0, high = c1](double PhasePrice::*of) {
    return between(static_cast<double>(context), static_cast<double>(low), a.*of, static_cast<double>(high), b.*of);
  };
  return {at(&PhasePrice::ns), at(&PhasePrice::attention_ns), at(&PhasePrice::head_ns)};
}

double StepPrices::rows_ns(int64_t rows) const {
  const auto [n0, n1] = around(lengths_, rows);
  const PhasePrice &a = known_.at({n0, 0, 0}), &b = known_.at({n1, 0, 0});
  return between(static_cast<double>(rows), static_cast<double>(n0), a.ns - a.attention_ns, static_cast<double>(n1),
                 b.ns - b.attention_ns);
}

double StepPrices::attention_ns(int64_t tokens) const {
  if (tokens == 0) return 0;
  const auto [n0, n1] = around(lengths_, tokens);
  const auto low = static_cast<double>(n0), high = static_cast<double>(n1), n = static_cast<double>(tokens);
  return n * between(n, low, known_.at({n0, 0, 0}).attention_ns / low, high, known_.at({n1, 0, 0}).attention_ns / high);
}

double StepPrices::ns(const std::vector<Chunk>& chunks, const StepClass& c) {
  std::vector<Key> needed;
  const auto need_length = [&](int64_t n) {
    const auto [low, high] = around(lengths_, n);
    needed.insert(needed.end(), {{low, 0, 0}, {high, 0, 0}});
  };
  if (c.batch > 0) {
    const auto [low, high] = around(contexts_, c.context);
    needed.insert(needed.end(), {{0, c.batch, low}, {0, c.batch, high}});
  }
  if (!chunks.empty()) {
    need_length(c.prefill + c.batch);
    needed.emplace_back(lengths_.front(), 0, 0);  // price of a head for one row
    for (const Chunk& chunk : chunks) {
      if (chunk.past > 0) need_length(chunk.past);
      need_length(chunk.past + chunk.tokens);
    }
  }
  simulate_missing(needed);
  const PhasePrice sequences = c.batch > 0 ? decode(c.batch, c.context) : PhasePrice{};
  if (chunks.empty()) return sequences.ns;
  double ns = rows_ns(c.prefill + c.batch);
  for (const Chunk& chunk : chunks)
    ns += std::max(0.0, attention_ns(chunk.past + chunk.tokens) - attention_ns(chunk.past));
  if (c.batch > 0)
    ns += sequences.attention_ns + std::max(0.0, sequences.head_ns - known_.at({lengths_.front(), 0, 0}).head_ns);
  return ns;
}

double StepPrices::ns(const Step& s) {
  return ns(s.chunks, {s.prefill, s.batch, s.context});
}

double StepPrices::ns(const StepClass& c) {
  return ns(c.prefill > 0 ? std::vector<Chunk>{{0, c.prefill}} : std::vector<Chunk>(), c);
}

}  // namespace kernbench::service
