// SPDX-License-Identifier: Apache-2.0
// Results of a service, accumulated from its steps and served requests: distributions, timelines, cost. Memory does not
// grow with their number.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/service/scheduler.h"
#include "kernbench/platform/service/step_prices.h"

namespace kernbench::phase2 {
class Fields;
}

namespace kernbench::service {

/// Mean and quantiles (nearest rank) of nonnegative values. Exact up to kExact values. With more values, quantiles are
/// within 0.04 %, from 1,024 bins per octave.
class Distribution {
 public:
  static constexpr size_t kExact = 65536;
  void add(double);
  uint64_t count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  double quantile(double) const;

 private:
  static size_t bin_of(double);
  uint64_t count_ = 0;
  double sum_ = 0;
  std::vector<double> values_;
  std::vector<uint64_t> bins_;
};

/// Time averages in at most kMost intervals of equal width, which doubles as the run grows.
class LoadTimeline {
 public:
  static constexpr size_t kMost = 512, kSeries = 5;
  using Values = std::array<double, kSeries>;  ///< waiting, running, prefill tokens of a step, blocks, blocks kept
  void add(double start_ns, double ns, const Values&);
  double width_ns() const { return width_ns_; }
  const std::vector<Values>& sums() const { return sums_; }  ///< value times ns

 private:
  double width_ns_ = 1e6;
  std::vector<Values> sums_;
};

/// Latency limits, ns; none: not given.
struct Slo {
  std::optional<double> ttft_ns, tpot_ns, e2e_ns;
  bool given() const { return ttft_ns || tpot_ns || e2e_ns; }
};
/// Parses "ttft=500,tpot=50,e2e=30000", in ms, at least one. InputError.
Slo parse_slo(const std::string&);

/// A step whose class was simulated exactly.
struct ExactStep {
  uint64_t step = 0;
  StepClass of;
  double exact_ns = 0, priced_ns = 0;
  double error() const { return priced_ns / exact_ns - 1; }
};

struct ServiceReport {
  std::string model, trace, machine;
  SchedulerLimits limits;
  ServiceTotals totals;
  Distribution ttft_ns, tpot_ns, e2e_ns;
  LoadTimeline timeline;
  Slo slo;
  uint64_t within_slo = 0;
  std::optional<double> usd_hour;
  size_t simulated = 0;          ///< phases simulated for prices
  std::vector<ExactStep> exact;  ///< by step

  void add(const Step&);
  void add(const Served&);
  double seconds() const { return totals.end_ns / 1e9; }
  double tokens_s() const;
  std::optional<double> usd_million() const;  ///< output tokens
  /// Mean absolute errors of exact steps, with chunks or without; 0 if there is none.
  double error_quantile(double, bool with_chunks) const;
};

void write_service_text(std::ostream&, const ServiceReport&);
void describe(Fields&, const ServiceReport&);
void write_service_page(const ServiceReport&, const std::function<void(std::string_view)>& write);

}  // namespace kernbench::service
