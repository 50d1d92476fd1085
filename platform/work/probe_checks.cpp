// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::work {

namespace {

// The model sums in double ns; a closed form adds the same terms in another order.
bool equal_ns(double a, double b) {
  return std::abs(a - b) <= 1e-5 + 1e-9 * std::max(std::abs(a), std::abs(b));
}

/// Whether an isolated transaction takes its formula's time regardless of earlier ones. Only then do laws and
/// expectations compare times.
bool exact(Platform& platform, const ProbeCase& c) {
  const uint32_t node = platform.graph().memories[c.memory].node;
  const auto* memory = dynamic_cast<const MemoryTarget*>(&platform.component(node));
  return !memory || memory->zero_load_is_exact();
}

std::string ns(double v) {
  return fmt::format("{:.6g} ns", std::abs(v) < 1e-9 ? 0 : v);
}

class Checker {
 public:
  Checker(Platform& platform, const std::vector<ProbeResult>& results) : platform_(platform), results_(results) {}

  std::vector<ProbeCheck> check() {
    const LinkLaws laws = platform_.system().mode().laws();
    for (const ProbeResult& r : results_) {
      const bool held = exact(platform_, r.probe);
      const double waited = laws.isolated_messages_never_wait ? 0 : r.queueing_ns;
      if (held) {
        add("formula", r, true, equal_ns(r.actual_ns - waited, r.formula_ns) && equal_ns(r.queueing_ns - waited, 0),
            fmt::format("took {}, formula {}, waited {}", ns(r.actual_ns), ns(r.formula_ns), ns(r.queueing_ns)));
      }
      add("parts", r, true, equal_ns(r.actual_ns, r.parts_ns()),
          fmt::format("took {}, parts sum to {}", ns(r.actual_ns), ns(r.parts_ns())));
      if (!held) continue;
      const double hops = trace_hops(platform_, r.probe, r.nbytes).total_ns;
      add("hops", r, true, equal_ns(r.actual_ns - waited, hops),
          fmt::format("took {}, hops sum to {}", ns(r.actual_ns), ns(hops)));
    }
    if (laws.reads_take_what_writes_take) read_write();
    for (const bool write : {false, true}) distance(write);
    return std::move(checks_);
  }

 private:
  void add(const char* name, const ProbeResult& r, bool law, bool passed, std::string found) {
    checks_.push_back({name, r.probe.name, law, passed, std::move(found)});
  }

  void read_write() {
    for (const ProbeResult& w : results_) {
      if (!w.probe.write || !exact(platform_, w.probe)) continue;
      const auto r = std::find_if(results_.begin(), results_.end(), [&](const ProbeResult& o) {
        return !o.probe.write && o.probe.initiator == w.probe.initiator && o.probe.memory == w.probe.memory;
      });
      if (r == results_.end() || !symmetric(w.probe)) continue;
      const double read = r->actual_ns - r->store_forward_ns, write = w.actual_ns - w.store_forward_ns;
      add("read-write", w, true, equal_ns(read, write),
          fmt::format("took {} without store-and-forward, {} {}", ns(write), r->probe.name, ns(read)));
    }
  }

  bool symmetric(const ProbeCase& c) {
    const Route& route = platform_.routes().route(c.initiator, probe_address(platform_, c), 1, true);
    return route.returns && route.own_back.empty() &&
           std::all_of(route.hops.begin(), route.hops.end(), [](const Hop& h) {
             const Link &there = h.out->link, &back = h.in->link;
             return back.wire_ns == there.wire_ns && back.bw_gbs == there.bw_gbs;
           });
  }

  struct Slice {
    const ProbeResult* result;
    int64_t nm;
    size_t hops;
  };

  /// Of one PE's transactions with HBM.
  void distance(bool write) {
    const topology::Graph& g = platform_.graph();
    std::vector<Slice> slices;
    for (const ProbeResult& r : results_) {
      const topology::Memory& m = g.memories[r.probe.memory];
      if (r.probe.write != write || m.space != "hbm" || g.nodes[r.probe.initiator].kind != "pe_dma") continue;
      if (!exact(platform_, r.probe)) continue;
      slices.push_back({&r, platform_.routes().paths().distance_nm(r.probe.initiator, m.node),
                        platform_.routes().paths().find_path(r.probe.initiator, m.node).size()});
    }
    bool differ = false;
    for (const Slice& far : slices) {
      const Slice* slower = nullptr;  // the slowest of the nearer slices
      for (const Slice& near : slices) {
        if (near.nm >= far.nm || near.hops > far.hops) continue;
        if (!slower || near.result->actual_ns > slower->result->actual_ns) slower = &near;
      }
      if (!slower) continue;
      differ = true;
      const ProbeResult &a = *slower->result, &b = *far.result;
      add("distance", b, false, a.actual_ns <= b.actual_ns || equal_ns(a.actual_ns, b.actual_ns),
          fmt::format("took {}, {} nearer by {:.2f} mm took {}", ns(b.actual_ns), a.probe.name,
                      (far.nm - slower->nm) * 1e-6, ns(a.actual_ns)));
    }
    if (!differ) return;
    const auto [best, worst] = std::minmax_element(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.result->actual_ns < b.result->actual_ns;
    });
    const ProbeResult &a = *best->result, &b = *worst->result;
    add("best-worst", b, false, a.actual_ns < b.actual_ns && !equal_ns(a.actual_ns, b.actual_ns),
        fmt::format("the slowest took {}, the fastest, {}, {}", ns(b.actual_ns), a.probe.name, ns(a.actual_ns)));
  }

  Platform& platform_;
  const std::vector<ProbeResult>& results_;
  std::vector<ProbeCheck> checks_;
};

}  // namespace

std::vector<ProbeCheck> check_probe(Platform& platform, const std::vector<ProbeResult>& results) {
  return Checker(platform, results).check();
}

std::vector<ProbeCheck> check_sweep(Platform& platform, const std::vector<ProbeSweep>& sweeps) {
  std::vector<ProbeCheck> checks;
  for (const ProbeSweep& s : sweeps) {
    if (s.points.size() < 2 || !exact(platform, s.points[0].probe)) continue;
    ProbeCheck c{"size", s.points[0].probe.name, true, true,
                 fmt::format("from {} to {}", ns(s.points.front().actual_ns), ns(s.points.back().actual_ns))};
    for (size_t i = 1; i < s.points.size() && c.passed; ++i) {
      const ProbeResult &a = s.points[i - 1], &b = s.points[i];
      if (b.actual_ns >= a.actual_ns && equal_ns(b.actual_ns, b.formula_ns)) continue;
      c.passed = false;
      c.found = fmt::format("{} bytes took {}, formula {}; {} bytes took {}", b.nbytes, ns(b.actual_ns),
                            ns(b.formula_ns), a.nbytes, ns(a.actual_ns));
    }
    checks.push_back(std::move(c));
  }
  return checks;
}

std::vector<ProbeCheck> check_saturation(Platform& platform, const std::vector<SaturationResult>& results) {
  std::vector<ProbeCheck> checks;
  for (const SaturationResult& r : results) {
    if (r.peak_gbs > 0) {
      checks.push_back({"peak", r.name, true, r.aggregate_gbs <= r.peak_gbs * (1 + 1e-9),
                        fmt::format("{:.2f} GB/s of {:.2f} GB/s", r.aggregate_gbs, r.peak_gbs)});
    }
    if (!platform.system().mode().laws().streams_share_evenly || !r.even || r.shares_gbs.size() < 2) continue;
    const double mean = r.aggregate_gbs / static_cast<double>(r.shares_gbs.size());
    checks.push_back(
        {"fairness", r.name, false, r.least_gbs() >= 0.95 * mean && r.most_gbs() <= 1.05 * mean,
         fmt::format("shares from {:.2f} to {:.2f} GB/s, mean {:.2f} GB/s", r.least_gbs(), r.most_gbs(), mean)});
  }
  return checks;
}

}  // namespace kernbench::work
