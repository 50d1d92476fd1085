// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/probe.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::work {

namespace {

std::string parent(const std::string& id) {
  const size_t dot = id.rfind('.');
  return dot == std::string::npos ? std::string() : id.substr(0, dot);
}

bool inside(const std::string& id, const std::string& scope) {
  return scope.empty() ||
         (id.compare(0, scope.size(), scope) == 0 && id.size() > scope.size() && id[scope.size()] == '.');
}

/// Finds a topology's cases by its ids and distances.
class CaseFinder {
 public:
  explicit CaseFinder(Platform& platform) : platform_(platform), graph_(platform.graph()) {}

  std::vector<ProbeCase> find() {
    if (!graph_.pes.empty()) pe_cases();
    const size_t reads = cases_.size();
    for (size_t i = 0; i < reads; ++i) add(cases_[i].name + "-write", cases_[i].initiator, cases_[i].memory, true);
    host_cases();
    return std::move(cases_);
  }

 private:
  /// The first PE that reaches HBM, or the first PE.
  void pe_cases() {
    size_t local = graph_.memories.size();
    for (size_t p = 0; p < graph_.pes.size() && local == graph_.memories.size(); ++p) {
      try {
        local = platform_.pes().local_memory(p);
        pe_ = p;
      } catch (const std::runtime_error&) {
      }
    }
    const topology::Pe& pe = graph_.pes[pe_];
    const uint32_t dma = pe.blocks.at("pe_dma");
    const std::string cube = parent(pe.id);
    if (local < graph_.memories.size()) slice_cases(dma, cube, local);
    const std::vector<size_t> srams = memories(cube, "sram");
    if (!srams.empty()) add("pe-local-sram", dma, srams[0], false);
    other_cubes(dma, cube);
  }

  void slice_cases(uint32_t dma, const std::string& cube, size_t local) {
    add("pe-local-hbm", dma, local, false);
    const std::vector<size_t> slices = memories(cube, "hbm");
    const auto here = std::find(slices.begin(), slices.end(), local);
    if (here != slices.end() && slices.size() > 1) {
      const size_t at = static_cast<size_t>(here - slices.begin());
      const size_t half = slices.size() / 2;
      if (half > 1) add("pe-same-half-hbm", dma, slices[at / half * half + (at + 1) % half], false);
      add("pe-cross-half-hbm", dma, slices[(at + half) % slices.size()], false);
    }
  }

  /// The first slice of other cubes: of the nearest and the farthest cube in the SIP, and of another SIP.
  void other_cubes(uint32_t dma, const std::string& cube) {
    const std::string sip = parent(cube);
    const size_t none = graph_.memories.size();
    int64_t nearest = std::numeric_limits<int64_t>::max(), farthest = -1;
    size_t adjacent = none, far = none, other_sip = none;
    std::string last_cube;
    for (size_t m = 0; m < none; ++m) {
      if (graph_.memories[m].space != "hbm") continue;
      const std::string other = cube_of(m);
      if (other == cube || other == last_cube || other.empty()) continue;
      last_cube = other;
      if (!platform_.routes().paths().has_path(dma, graph_.memories[m].node)) continue;
      if (!sip.empty() && parent(other) != sip) {
        if (other_sip == none) other_sip = m;
        continue;
      }
      const int64_t nm = platform_.routes().paths().distance_nm(dma, graph_.memories[m].node);
      if (nm < nearest) {
        nearest = nm;
        adjacent = m;
      }
      if (nm > farthest) {
        farthest = nm;
        far = m;
      }
    }
    if (adjacent < none) add("pe-adjacent-cube-hbm", dma, adjacent, false);
    if (far < none && far != adjacent) add("pe-farthest-cube-hbm", dma, far, false);
    if (other_sip < none) add("pe-other-sip-hbm", dma, other_sip, false);
  }

  void host_cases() {
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].kind != "pcie_ep") continue;
      const std::string& id = graph_.nodes[n].id;
      const std::string sip = id.find('.') == std::string::npos ? std::string() : id.substr(0, id.find('.'));
      for (size_t m = 0; m < graph_.memories.size(); ++m) {
        const topology::Memory& memory = graph_.memories[m];
        if (memory.space != "hbm" || !inside(graph_.nodes[memory.node].id, sip) ||
            !platform_.routes().paths().has_path(n, memory.node))
          continue;
        add("h2d-write", n, m, true);
        add("d2h-read", n, m, false);
        return;
      }
    }
  }

  void add(const std::string& name, uint32_t initiator, size_t memory, bool write) {
    const topology::Memory& m = graph_.memories[memory];
    try {
      platform_.routes().route(initiator, m.base, 1, write);
    } catch (const AccessError&) {
      return;  // one-way topologies have no such case
    }
    const std::string& id = graph_.nodes[initiator].id;
    cases_.push_back({name,
                      (graph_.nodes[initiator].kind == "pe_dma" ? parent(id) : id) + " -> " + graph_.nodes[m.node].id,
                      initiator, static_cast<uint32_t>(memory), write, m.size});
  }

  std::vector<size_t> memories(const std::string& scope, const char* space) const {
    std::vector<size_t> v;
    for (size_t m = 0; m < graph_.memories.size(); ++m) {
      if (graph_.memories[m].space == space && inside(graph_.nodes[graph_.memories[m].node].id, scope)) v.push_back(m);
    }
    return v;
  }

  /// "sip0.cube3" of "sip0.cube3.hbm_ctrl.pe2": has the depth of the PE's cube.
  std::string cube_of(size_t memory) const {
    const std::string& id = graph_.nodes[graph_.memories[memory].node].id;
    const std::string cube = parent(graph_.pes[pe_].id);
    size_t end = 0;
    for (auto depth = std::count(cube.begin(), cube.end(), '.') + 1; depth > 0; --depth) {
      end = id.find('.', end ? end + 1 : 0);
      if (end == std::string::npos) return {};
    }
    return id.substr(0, end);
  }

  Platform& platform_;
  const topology::Graph& graph_;
  size_t pe_ = 0;  // the PE of the cases
  std::vector<ProbeCase> cases_;
};

struct ProbePoint {
  const ProbeCase* probe;
  uint64_t nbytes;
};

/// Issues the next transaction when the previous one is done.
class ProbeDriver {
 public:
  ProbeDriver(Platform& platform, const std::vector<ProbePoint>& points) : platform_(platform), points_(points) {
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
    const ProbePoint& p = points_[results.size()];
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
  const std::vector<ProbePoint>& points_;
  MemoryRequest request_;
};

std::vector<ProbeResult> run_points(Platform& platform, const std::vector<ProbePoint>& points) {
  for (const ProbePoint& p : points) {
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

std::vector<ProbeCase> probe_cases(Platform& platform) {
  return CaseFinder(platform).find();
}

uint64_t probe_address(const Platform& platform, const ProbeCase& c) {
  return platform.graph().memories[c.memory].base;
}

double next_idle_ns(Platform& platform) {
  // A link is held for header_bytes longer than the transaction may take.
  double least_bw = 0;
  for (uint32_t e = 0; e < platform.graph().edges.size(); ++e) {
    const double bw = platform.graph().effective_bw(e);
    if (bw > 0 && (least_bw == 0 || bw < least_bw)) least_bw = bw;
  }
  const double header_ns = least_bw > 0 ? platform.system().timing().header_bytes / least_bw : 0;
  double idle_ns = platform.timeline().now_ns() + header_ns;
  // A memory that answers late may still send data after a read is done.
  for (uint32_t e = 0; e < platform.graph().edges.size(); ++e) {
    if (const Link* link = platform.machine().blocks().link(e)) idle_ns = std::max(idle_ns, link->free_ns);
  }
  return std::ceil(idle_ns) + 1;
}

std::vector<ProbeResult> run_probe(Platform& platform, const std::vector<ProbeCase>& cases,
                                   const std::vector<uint64_t>& sizes) {
  std::vector<ProbePoint> points;
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
  std::vector<ProbePoint> points;
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

}  // namespace kernbench::work
