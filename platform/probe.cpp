#include "kernbench/platform/probe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <ostream>

#include "kernbench/platform/errors.h"
#include "kernbench/platform/platform.h"

namespace kernbench {

namespace {

std::string parent(const std::string& id) {
  const size_t dot = id.rfind('.');
  return dot == std::string::npos ? std::string() : id.substr(0, dot);
}

bool inside(const std::string& id, const std::string& scope) {
  return scope.empty() || (id.compare(0, scope.size(), scope) == 0 && id.size() > scope.size() && id[scope.size()] == '.');
}

/// Finds the cases of a topology from its ids and distances.
class CaseFinder {
 public:
  explicit CaseFinder(Platform& platform) : platform_(platform), graph_(platform.graph()) {}

  std::vector<ProbeCase> find() {
    if (!graph_.pes.empty()) pe_cases();
    host_cases();
    return std::move(cases_);
  }

 private:
  void pe_cases() {
    const topology::Pe& pe = graph_.pes[0];
    const uint32_t dma = pe.blocks.at("pe_dma");
    const std::string cube = parent(pe.id), sip = parent(cube);
    size_t local;
    try {
      local = platform_.local_memory(0);
    } catch (const std::runtime_error&) {
      return;  // this PE reaches no HBM
    }
    add("pe-local-hbm", dma, local, false);

    const std::vector<size_t> slices = memories(cube, "hbm");
    const auto here = std::find(slices.begin(), slices.end(), local);
    if (here != slices.end() && slices.size() > 1) {
      const size_t at = static_cast<size_t>(here - slices.begin());
      const size_t half = slices.size() / 2;
      if (half > 1) add("pe-same-half-hbm", dma, slices[at / half * half + (at + 1) % half], false);
      add("pe-cross-half-hbm", dma, slices[(at + half) % slices.size()], false);
    }
    const std::vector<size_t> srams = memories(cube, "sram");
    if (!srams.empty()) add("pe-local-sram", dma, srams[0], false);

    // The same slice of the other cubes of the SIP: nearest and farthest.
    double nearest = std::numeric_limits<double>::infinity(), farthest = -1;
    size_t adjacent = graph_.memories.size(), far = graph_.memories.size(), other_sip = graph_.memories.size();
    std::string last_cube;
    for (size_t m = 0; m < graph_.memories.size(); ++m) {
      if (graph_.memories[m].space != "hbm") continue;
      const std::string other = cube_of(m);
      if (other == cube || other == last_cube || other.empty()) continue;
      last_cube = other;
      if (!sip.empty() && parent(other) != sip) {
        if (other_sip == graph_.memories.size() && reaches(dma, m)) other_sip = m;
        continue;
      }
      if (!reaches(dma, m)) continue;
      const double mm = distance(dma, m);
      if (mm < nearest) {
        nearest = mm;
        adjacent = m;
      }
      if (mm > farthest) {
        farthest = mm;
        far = m;
      }
    }
    if (adjacent < graph_.memories.size()) add("pe-adjacent-cube-hbm", dma, adjacent, false);
    if (far < graph_.memories.size() && far != adjacent) add("pe-farthest-cube-hbm", dma, far, false);
    if (other_sip < graph_.memories.size()) add("pe-other-sip-hbm", dma, other_sip, false);
  }

  void host_cases() {
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].kind != "pcie_ep") continue;
      const std::string sip = graph_.nodes[n].id.substr(0, graph_.nodes[n].id.find('.'));
      for (size_t m = 0; m < graph_.memories.size(); ++m) {
        if (graph_.memories[m].space != "hbm" || !inside(graph_.nodes[graph_.memories[m].node].id, sip) || !reaches(n, m))
          continue;
        add("h2d-write", n, m, true);
        add("d2h-read", n, m, false);
        return;
      }
    }
  }

  void add(const char* name, uint32_t initiator, size_t memory, bool write) {
    const topology::Memory& m = graph_.memories[memory];
    try {
      platform_.route(initiator, m.base, 1, write);
    } catch (const AccessError&) {
      return;  // one-way topologies have no such case
    }
    const std::string from = graph_.nodes[initiator].kind == "pe_dma" ? parent(graph_.nodes[initiator].id)
                                                                      : graph_.nodes[initiator].id;
    cases_.push_back({name, from + " -> " + graph_.nodes[m.node].id, initiator, static_cast<uint32_t>(memory), write});
  }

  std::vector<size_t> memories(const std::string& scope, const char* space) const {
    std::vector<size_t> v;
    for (size_t m = 0; m < graph_.memories.size(); ++m) {
      if (graph_.memories[m].space == space && inside(graph_.nodes[graph_.memories[m].node].id, scope)) v.push_back(m);
    }
    return v;
  }
  /// "sip0.cube3" of "sip0.cube3.hbm_ctrl.pe2": as deep as the first PE's cube.
  std::string cube_of(size_t memory) const {
    const std::string& id = graph_.nodes[graph_.memories[memory].node].id;
    const std::string cube = parent(graph_.pes[0].id);
    size_t end = 0;
    for (auto depth = std::count(cube.begin(), cube.end(), '.') + 1; depth > 0; --depth) {
      end = id.find('.', end ? end + 1 : 0);
      if (end == std::string::npos) return {};
    }
    return id.substr(0, end);
  }
  bool reaches(uint32_t initiator, size_t memory) {
    return platform_.router().has_path(initiator, graph_.memories[memory].node);
  }
  double distance(uint32_t initiator, size_t memory) {
    double mm = 0;
    for (uint32_t e : platform_.router().find_path(initiator, graph_.memories[memory].node))
      mm += graph_.edges[e].distance_mm;
    return mm;
  }

  Platform& platform_;
  const topology::Graph& graph_;
  std::vector<ProbeCase> cases_;
};

/// Issues the next case when the one before is done.
class ProbeDriver {
 public:
  ProbeDriver(Platform& platform, const std::vector<ProbeCase>& cases, uint64_t nbytes)
      : platform_(platform), cases_(cases), nbytes_(nbytes) {
    schedule(0);
  }
  std::vector<ProbeResult> results;

 private:
  void schedule(double t_ns) {
    if (results.size() == cases_.size()) return;
    platform_.timeline().at(
        t_ns, Order(Order::kEngines, ~0u, 0), [](void* self, void*) { static_cast<ProbeDriver*>(self)->issue(); }, this);
  }
  void issue() {
    const ProbeCase& c = cases_[results.size()];
    request_ = {c.write, platform_.graph().memories[c.memory].base, nbytes_, platform_.timeline().now_ns(),
                &ProbeDriver::done, this};
    platform_.request_port(c.initiator)->request(request_);
  }
  static void done(void* self, const FabricTransaction& x) {
    auto& me = *static_cast<ProbeDriver*>(self);
    ProbeResult r;
    r.probe = me.cases_[me.results.size()];
    r.nbytes = x.nbytes;
    r.actual_ns = x.done_ns - x.issue_ns;
    r.formula_ns = formula_ns(me.platform_.fabric(), *x.route, x.write, x.address, x.nbytes, x.rows);
    r.overhead_ns = x.overhead_ns;
    r.drain_ns = x.drain_ns;
    r.wire_ns = x.wire_ns;
    r.store_forward_ns = x.store_forward_ns;
    r.queueing_ns = x.grant_ns - x.issue_ns + x.link_queue_ns + x.memory_queue_ns;
    r.bottleneck_bw_gbs = x.write ? x.route->write_bw : x.route->read_bw;
    me.results.push_back(r);
    me.schedule(std::ceil(x.done_ns));
  }

  Platform& platform_;
  const std::vector<ProbeCase>& cases_;
  uint64_t nbytes_;
  MemoryRequest request_;
};

std::string fixed(double v, int digits) {
  char text[64];
  if (std::abs(v) < 0.5 * std::pow(10, -digits)) v = 0;
  std::snprintf(text, sizeof text, "%.*f", digits, v);
  return text;
}

/// The columns of the seed's table; digits as it shows them or finer.
struct Column {
  const char* name;
  const char* heading;
  int digits;
  double (*value)(const ProbeResult&);
};
constexpr Column kColumns[] = {
    {"actual_ns", "actual ns", 3, [](const ProbeResult& r) { return r.actual_ns; }},
    {"overhead_ns", "overhead ns", 3, [](const ProbeResult& r) { return r.overhead_ns; }},
    {"drain_ns", "drain ns", 3, [](const ProbeResult& r) { return r.drain_ns; }},
    {"wire_ns", "wire ns", 3, [](const ProbeResult& r) { return r.wire_ns; }},
    {"queueing_ns", "queueing ns", 3, [](const ProbeResult& r) { return r.queueing_ns; }},
    {"overhead_pct", "overhead %", 1, [](const ProbeResult& r) { return r.overhead_pct(); }},
    {"drain_pct", "drain %", 1, [](const ProbeResult& r) { return r.drain_pct(); }},
    {"eff_bw_gbs", "eff GB/s", 2, [](const ProbeResult& r) { return r.eff_bw_gbs(); }},
    {"bottleneck_bw_gbs", "link GB/s", 2, [](const ProbeResult& r) { return r.bottleneck_bw_gbs; }},
    {"util_pct", "util %", 1, [](const ProbeResult& r) { return r.util_pct(); }},
};

}  // namespace

std::vector<ProbeCase> probe_cases(Platform& platform) { return CaseFinder(platform).find(); }

std::vector<ProbeResult> run_probe(Platform& platform, const std::vector<ProbeCase>& cases, uint64_t nbytes) {
  for (const ProbeCase& c : cases) {
    try {
      platform.route(c.initiator, platform.graph().memories[c.memory].base, nbytes, c.write);
    } catch (const AccessError& e) {
      throw InputError("--bytes: " + c.name + ": " + e.what());
    }
  }
  ProbeDriver driver(platform, cases, nbytes);
  sc_core::sc_start();
  return std::move(driver.results);
}

void write_probe_text(std::ostream& out, const std::vector<ProbeResult>& results) {
  size_t name = 4, target = 6;
  for (const ProbeResult& r : results) {
    name = std::max(name, r.probe.name.size());
    target = std::max(target, r.probe.target.size());
  }
  const auto left = [](const std::string& s, size_t w) { return s + std::string(w > s.size() ? w - s.size() : 0, ' '); };
  const auto right = [](const std::string& s, size_t w) { return std::string(w > s.size() ? w - s.size() : 0, ' ') + s; };
  if (!results.empty()) out << "each transaction alone in the system, " << results[0].nbytes << " bytes\n\n";
  out << left("case", name) << "  " << left("target", target);
  for (const Column& c : kColumns) out << "  " << right(c.heading, 10);
  out << "\n";
  for (const ProbeResult& r : results) {
    out << left(r.probe.name, name) << "  " << left(r.probe.target, target);
    for (const Column& c : kColumns)
      out << "  " << right(fixed(c.value(r), c.digits), std::max<size_t>(10, std::string(c.heading).size()));
    out << "\n";
  }
}

void write_probe_csv(std::ostream& out, const std::vector<ProbeResult>& results) {
  out << "case,target";
  for (const Column& c : kColumns) out << ',' << c.name;
  out << '\n';
  for (const ProbeResult& r : results) {
    out << r.probe.name << ',' << r.probe.target;
    for (const Column& c : kColumns) out << ',' << fixed(c.value(r), 6);
    out << '\n';
  }
}

void write_probe_json(std::ostream& out, const std::vector<ProbeResult>& results) {
  out << "[";
  for (size_t i = 0; i < results.size(); ++i) {
    const ProbeResult& r = results[i];
    out << (i ? ",\n {" : "\n {") << "\"case\": \"" << r.probe.name << "\", \"target\": \"" << r.probe.target
        << "\", \"bytes\": " << r.nbytes;
    for (const Column& c : kColumns) out << ", \"" << c.name << "\": " << fixed(c.value(r), 6);
    out << ", \"formula_ns\": " << fixed(r.formula_ns, 6) << "}";
  }
  out << "\n]\n";
}

}  // namespace kernbench
