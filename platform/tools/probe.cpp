#include "kernbench/platform/tools/probe.h"

#include <algorithm>
#include <cmath>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench {

namespace {

struct Point {
  const ProbeCase* probe;
  uint64_t nbytes;
};

/// Issues the next transaction when the previous one is done.
class ProbeDriver {
 public:
  ProbeDriver(Platform& platform, const std::vector<Point>& points) : platform_(platform), points_(points) {
    results.reserve(points.size());
    schedule();
  }
  std::vector<ProbeResult> results;

 private:
  void schedule() {
    if (results.size() == points_.size()) return;
    platform_.timeline().at(next_idle_ns(platform_), Order(Order::kEngines, ~0u, 0), call<&ProbeDriver::issue>(*this));
  }

  void issue() {
    const Point& p = points_[results.size()];
    request_ = {p.probe->write,     probe_address(platform_, *p.probe),
                p.nbytes,           platform_.timeline().now_ns(),
                &ProbeDriver::done, this};
    platform_.request_port(p.probe->initiator)->request(request_);
  }

  static void done(MemoryRequest& request, const FabricTransaction& x) {
    auto& me = *static_cast<ProbeDriver*>(request.context);
    ProbeResult r;
    r.probe = *me.points_[me.results.size()].probe;
    r.nbytes = x.nbytes;
    r.actual_ns = x.done_ns - x.issue_ns;
    r.formula_ns = me.platform_.system().mode().formula_ns(*x.route, x.write, x.address, x.nbytes, x.rows);
    r.overhead_ns = x.overhead_ns;
    r.drain_ns = x.drain_ns;
    r.wire_ns = x.wire_ns;
    r.store_forward_ns = x.store_forward_ns;
    r.queueing_ns = x.grant_ns - x.issue_ns + x.link_queue_ns + x.memory_queue_ns;
    r.bottleneck_bw_gbs = x.route->target->bottleneck_gbs(*x.route, x.write);
    me.results.push_back(r);
    me.schedule();
  }

  Platform& platform_;
  const std::vector<Point>& points_;
  MemoryRequest request_;
};

std::vector<ProbeResult> run_points(Platform& platform, const std::vector<Point>& points) {
  for (const Point& p : points) {
    try {
      platform.routes().route(p.probe->initiator, probe_address(platform, *p.probe), p.nbytes, p.probe->write);
    } catch (const AccessError& e) {
      throw InputError(p.probe->name + ": " + e.what());
    }
  }
  ProbeDriver driver(platform, points);
  simulate();
  if (driver.results.size() < points.size())
    throw RunError(points[driver.results.size()].probe->name + ": the transaction never ended");
  return std::move(driver.results);
}

}  // namespace

uint64_t probe_address(const Platform& platform, const ProbeCase& c) {
  return platform.graph().memories[c.memory].base;
}

double next_idle_ns(Platform& platform) {
  // A link is held for header_bytes longer than the transaction itself may take.
  double least_bw = 0;
  for (uint32_t e = 0; e < platform.graph().edges.size(); ++e) {
    const double bw = platform.graph().effective_bw(e);
    if (bw > 0 && (least_bw == 0 || bw < least_bw)) least_bw = bw;
  }
  const double header_ns = least_bw > 0 ? platform.system().timing().header_bytes / least_bw : 0;
  double idle_ns = platform.timeline().now_ns() + header_ns;
  // A memory that answers late may send the data of a read that is done.
  for (uint32_t e = 0; e < platform.graph().edges.size(); ++e) {
    if (const Link* link = platform.machine().blocks().link(e)) idle_ns = std::max(idle_ns, link->free_ns);
  }
  return std::ceil(idle_ns) + 1;
}

std::vector<ProbeResult> run_probe(Platform& platform, const std::vector<ProbeCase>& cases,
                                   const std::vector<uint64_t>& sizes) {
  std::vector<Point> points;
  for (const ProbeCase& c : cases) {
    for (uint64_t n : sizes) points.push_back({&c, n});
  }
  return run_points(platform, points);
}

std::vector<uint64_t> sweep_sizes() {
  std::vector<uint64_t> sizes;
  for (uint64_t n = 4096; n <= 1 << 20; n *= 2) sizes.push_back(n);
  return sizes;
}

size_t ProbeSweep::at_90_pct() const {
  const auto it = std::find_if(points.begin(), points.end(), [](const ProbeResult& r) { return r.util_pct() >= 90; });
  return static_cast<size_t>(it - points.begin());
}

std::vector<ProbeSweep> run_sweep(Platform& platform, const std::vector<ProbeCase>& cases) {
  std::vector<Point> points;
  for (const ProbeCase& c : cases) {
    for (uint64_t n : sweep_sizes()) {
      if (n <= platform.graph().memories[c.memory].size) points.push_back({&c, n});
    }
  }
  std::vector<ProbeSweep> sweeps;
  const ProbeCase* last = nullptr;
  std::vector<ProbeResult> results = run_points(platform, points);
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].probe != last) sweeps.emplace_back();
    last = points[i].probe;
    sweeps.back().points.push_back(std::move(results[i]));
  }
  return sweeps;
}

}  // namespace kernbench
