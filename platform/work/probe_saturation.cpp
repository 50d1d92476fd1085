// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/path.h"

namespace kernbench::work {

namespace {

struct Reader {
  uint32_t dma = 0;    ///< node
  size_t memory = 0;   ///< of the graph
  uint64_t first = 0;  ///< index of its first read: PEs start at different addresses
};

struct Scenario {
  std::string name, target;
  bool hot = false;
  std::vector<Reader> readers;
};

/// Reads of the fastest PE: enough for a steady state, fewer if there are thousands of PEs.
uint64_t reads_each(size_t pes) {
  return std::clamp<uint64_t>(16384 / pes, 16, 128);
}

size_t read_engines(const Platform& platform, uint32_t dma) {
  return static_cast<size_t>(platform.graph().nodes[dma].attrs.integer("rd_engines", 1));
}

const Route& route_of(Platform& platform, const Reader& r, uint64_t nbytes, const std::string& scenario) {
  try {
    return platform.routes().route(r.dma, platform.graph().memories[r.memory].base, nbytes, false);
  } catch (const AccessError& e) {
    throw InputError(scenario + ": " + e.what());
  }
}

// Limits in GB/s; 0: unlimited.
double least(double a, double b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}
double sum(double a, double b) {
  return a == 0 || b == 0 ? 0 : a + b;
}

/// An upper bound for every mode: the minimum of channels, serving edges and memories.
double peak_gbs(Platform& platform, const Scenario& s, uint64_t nbytes) {
  struct Edge {
    double flows = 0, bw = 0;
    bool used = false;
  };
  struct Memory {
    std::map<uint32_t, Edge> edges;  // the edges by which its data leave
    double bw = 0;
  };
  const bool edges_serve = platform.system().mode().links_serve();
  std::map<size_t, Memory> memories;
  for (const Reader& r : s.readers) {
    const Route& route = route_of(platform, r, nbytes, s.name);
    const uint64_t address = platform.graph().memories[r.memory].base;
    // A channel is held for at least the time in which the memory serves the read alone.
    const double drain =
        route.target->at_zero_load({route, false, address, nbytes, {1, nbytes, 0}}).finish_ns - route.target->end_ns();
    const bool bounds = drain > 0 && route.target->zero_load_is_exact();
    double flow = bounds ? static_cast<double>(read_engines(platform, r.dma) * nbytes) / drain : 0;
    if (edges_serve) flow = least(flow, route.read_bw);
    const Link* last = &route.way_back().back().in->link;
    Memory& m = memories[r.memory];
    m.bw = std::max(m.bw, memory_bandwidth(platform, static_cast<uint32_t>(r.memory), last->bw_gbs));
    Edge& e = m.edges[last->edge];
    e.flows = e.used ? sum(e.flows, flow) : flow;
    e.bw = edges_serve ? last->bw_gbs : 0;
    e.used = true;
  }
  double total = 0;
  for (const auto& [index, m] : memories) {
    double all = 0;
    bool limited = true;
    for (const auto& [link, e] : m.edges) {
      const double of_edge = least(e.flows, e.bw);
      limited = limited && of_edge > 0;
      all += of_edge;
    }
    const double of_memory = least(limited ? all : 0, m.bw);
    if (of_memory == 0) return 0;
    total += of_memory;
  }
  return total;
}

/// Flit mode, one memory: whether each reader can have an equal share of the peak. A fifth of every link before the
/// memory, and of its own speed, must stay unused; else reads that meet on the path change the shares.
bool equal_shares_possible(Platform& platform, const Scenario& s, uint64_t nbytes, double peak) {
  constexpr double kUsable = 0.8;
  const double share = peak / static_cast<double>(s.readers.size());
  std::map<const Link*, double> load;
  for (const Reader& r : s.readers) {
    if (read_engines(platform, r.dma) != read_engines(platform, s.readers[0].dma)) return false;  // it reads more
    const Route& route = route_of(platform, r, nbytes, s.name);
    const uint64_t address = platform.graph().memories[r.memory].base;
    const double alone = platform.system().mode().formula_ns(route, false, address, nbytes, {1, nbytes, 0});
    if (static_cast<double>(read_engines(platform, r.dma) * nbytes) / alone < share / kUsable) return false;
    const Path data = route.path(true);
    for (const PathHop& hop : data) {
      if (hop.number + 1 == data.size()) continue;
      load[hop.link] += share;
      if (hop.link->bw_gbs > 0 && load[hop.link] > kUsable * hop.link->bw_gbs) return false;
    }
  }
  return true;
}

class SaturationDriver {
 public:
  SaturationDriver(Platform& platform, const Scenario& scenario, uint64_t nbytes)
      : platform_(platform), scenario_(scenario), nbytes_(nbytes), reads_each_(reads_each(scenario.readers.size())) {
    for (const Reader& r : scenario.readers) {
      Stream s;
      s.port = platform.request_port(r.dma);
      s.next = r.first;
      s.slots.resize(read_engines(platform, r.dma) + 1);  // one more waits, so that the channel never idles
      streams_.push_back(std::move(s));
    }
    start_ns_ = next_idle_ns(platform);
    platform.timeline().at(start_ns_, Order(Order::kEngines, ~0u, 0), call<&SaturationDriver::start>(*this));
  }

  SaturationResult run() {
    for_each_link([&](const Link& l) { busy_before_.push_back(l.busy_ns); });
    simulate();
    if (!stopped_) throw RunError(scenario_.name + ": no PE got all its reads");
    result_.name = scenario_.name;
    result_.target = scenario_.target;
    result_.hot = scenario_.hot;
    result_.nbytes = nbytes_;
    result_.window_ns = stop_ns_ - start_ns_;
    result_.peak_gbs = peak_gbs(platform_, scenario_, nbytes_);
    result_.even = scenario_.hot && equal_shares_possible(platform_, scenario_, nbytes_, result_.peak_gbs);
    for (const Stream& s : streams_) {
      result_.reads += s.done;
      result_.shares_gbs.push_back(static_cast<double>(s.done * nbytes_) / result_.window_ns);
    }
    result_.aggregate_gbs = static_cast<double>(result_.reads * nbytes_) / result_.window_ns;
    return std::move(result_);
  }

 private:
  struct Slot {
    MemoryRequest request;
    SaturationDriver* driver = nullptr;
    size_t stream = 0;
  };
  struct Stream {  // of one PE
    RequestPort* port = nullptr;
    uint64_t next = 0, done = 0;
    std::vector<Slot> slots;
  };

  void start() {
    for (size_t i = 0; i < streams_.size(); ++i) {
      for (Slot& slot : streams_[i].slots) {
        slot.driver = this;
        slot.stream = i;
        issue(slot);
      }
    }
  }

  void issue(Slot& slot) {
    Stream& s = streams_[slot.stream];
    const topology::Memory& m = platform_.graph().memories[scenario_.readers[slot.stream].memory];
    slot.request = {
        false, m.base + s.next++ % (m.size / nbytes_) * nbytes_, nbytes_, platform_.timeline().now_ns(), &done, &slot};
    s.port->request(slot.request);
  }

  static void done(MemoryRequest& request, const FabricTransaction& x) {
    Slot& slot = *static_cast<Slot*>(request.context);
    SaturationDriver& me = *slot.driver;
    Stream& s = me.streams_[slot.stream];
    if (!me.stopped_) {
      if (++s.done == me.reads_each_) me.stop(x.done_ns);
      me.issue(slot);
    } else if (Timeline::to_fs(x.done_ns) == Timeline::to_fs(me.stop_ns_)) {
      ++s.done;
    }
  }

  void stop(double now) {
    stopped_ = true;
    stop_ns_ = now;
    const topology::Graph& g = platform_.graph();
    size_t i = 0;
    double most = 0;
    for_each_link([&](const Link& l) {
      const double busy = l.busy_ns - busy_before_[i++];
      if (busy <= most) return;
      most = busy;
      result_.busiest_edge = g.nodes[g.edges[l.edge].from].id + " -> " + g.nodes[g.edges[l.edge].to].id;
    });
    result_.busiest_util = std::min(1.0, most / (stop_ns_ - start_ns_));
  }

  template <class Visit>
  void for_each_link(Visit visit) {
    for (uint32_t n = 0; n < platform_.graph().nodes.size(); ++n) {
      for (const uint32_t e : platform_.graph().out_edges[n]) {
        if (const Link* l = platform_.machine().blocks().link(e)) visit(*l);
      }
    }
  }

  Platform& platform_;
  const Scenario& scenario_;
  const uint64_t nbytes_, reads_each_;
  std::vector<Stream> streams_;
  std::vector<double> busy_before_;
  double start_ns_ = 0, stop_ns_ = 0;
  bool stopped_ = false;
  SaturationResult result_;
};

std::string cube_of(const topology::Pe& pe) {
  const size_t dot = pe.id.rfind('.');
  return dot == std::string::npos ? std::string() : pe.id.substr(0, dot);
}

std::vector<Scenario> scenarios(Platform& platform) {
  const topology::Graph& g = platform.graph();
  Scenario own;
  own.name = "own-slices";
  std::vector<size_t> pes;  // of the readers
  for (size_t p = 0; p < g.pes.size(); ++p) {
    try {
      own.readers.push_back({g.pes[p].blocks.at("pe_dma"), platform.pes().local_memory(p), 0});
      pes.push_back(p);
    } catch (const std::runtime_error&) {  // it reaches no HBM
    }
  }
  if (pes.empty()) throw InputError("--saturate: the topology has no PE that reaches a memory of space hbm");
  own.target = std::to_string(pes.size()) + (pes.size() == 1 ? " PE -> its own slice" : " PEs -> their own slices");

  const size_t slice = own.readers[0].memory;
  const std::string cube = cube_of(g.pes[pes[0]]);
  std::vector<Reader> neighbours;
  for (size_t i = 0; i < pes.size(); ++i) {
    const uint32_t dma = own.readers[i].dma;
    if (cube_of(g.pes[pes[i]]) == cube && platform.routes().paths().has_path(dma, g.memories[slice].node))
      neighbours.push_back({dma, slice, 0});
  }
  std::vector<Scenario> all;
  for (size_t n : {1, 2, 4, 8}) {
    if (n > neighbours.size()) break;
    Scenario s;
    s.name = "hot-" + std::to_string(n);
    s.target = fmt::format("{}{}{} -> {}", n, n == 1 ? " PE" : " PEs", cube.empty() ? "" : " of " + cube,
                           g.nodes[g.memories[slice].node].id);
    s.hot = true;
    s.readers.assign(neighbours.begin(), neighbours.begin() + static_cast<std::ptrdiff_t>(n));
    for (size_t i = 0; i < n; ++i) s.readers[i].first = i * reads_each(n);
    all.push_back(std::move(s));
  }
  all.push_back(std::move(own));
  return all;
}

}  // namespace

double SaturationResult::least_gbs() const {
  return shares_gbs.empty() ? 0 : *std::min_element(shares_gbs.begin(), shares_gbs.end());
}

double SaturationResult::most_gbs() const {
  return shares_gbs.empty() ? 0 : *std::max_element(shares_gbs.begin(), shares_gbs.end());
}

std::vector<SaturationResult> run_saturation(Platform& platform, uint64_t nbytes) {
  const std::vector<Scenario> all = scenarios(platform);
  for (const Scenario& s : all) {
    for (const Reader& r : s.readers) route_of(platform, r, nbytes, s.name);
  }
  std::vector<SaturationResult> results;
  for (const Scenario& s : all) results.push_back(SaturationDriver(platform, s, nbytes).run());
  return results;
}

}  // namespace kernbench::work
