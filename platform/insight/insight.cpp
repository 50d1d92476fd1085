// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/insight/joins.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/launch/device_allocators.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/systemc_models/core/component_catalog.h"
#include "kernbench/systemc_models/core/component_registry.h"
#include "kernbench/systemc_models/core/effective_attributes.h"

namespace kernbench::insight {
namespace {

/// The path, in which each repeated part is as long as all parts that it represents.
std::vector<PathStep> stretched(const std::vector<PathStep>& path, const RunFigures& run) {
  if (run.repeated.empty()) return path;
  std::vector<PathStep> all;
  for (const PathStep& s : path) {
    double at = s.from_ns;
    const auto add = [&](double until, double times) {
      if (until <= at) return;
      PathStep part = s;
      part.from_ns = at;
      part.to_ns = at + (until - at) * times;
      all.push_back(part);
      at = until;
    };
    for (const RunFigures::Repeated& p : run.repeated) {
      add(std::min(s.to_ns, run.begin_ns + p.from_ns), 1);
      add(std::min(s.to_ns, run.begin_ns + p.to_ns), p.times);
    }
    add(s.to_ns, 1);
  }
  return all;
}

/// The events of the path at which repeated parts begin and end.
std::vector<RunGraph::Repeated> repeated(const CriticalPath& path, const RunFigures& run) {
  std::vector<RunGraph::Repeated> all;
  const auto moment_at = [&](double ns) {
    const auto later = [](double t, const auto& m) { return t < m.first; };
    const auto after = std::upper_bound(path.moments.begin(), path.moments.end(), ns + RunGraph::kSameNs, later);
    return after == path.moments.begin() ? Moment{0} : std::prev(after)->second;
  };
  for (const RunFigures::Repeated& p : run.repeated)
    all.push_back({moment_at(run.begin_ns + p.from_ns), moment_at(run.begin_ns + p.to_ns), p.times - 1});
  return all;
}

Insight::Bound bound_of(Resource r) {
  switch (r) {
    case Resource::gemm:
    case Resource::math:
    case Resource::kernel:
      return Insight::Bound::compute;
    case Resource::hbm:
    case Resource::sram:
    case Resource::tcm:
    case Resource::mesh:
    case Resource::ucie:
    case Resource::pcie:
    case Resource::link:
    case Resource::rows:
    case Resource::banks:
    case Resource::refresh:
    case Resource::turnaround:
      return Insight::Bound::bandwidth;
    case Resource::launch:
    case Resource::host:
      return Insight::Bound::launch;
    default:
      return Insight::Bound::dependencies;
  }
}

template <class Row>
void busiest_first(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.share != b.share ? a.share > b.share : a.bytes > b.bytes;
  });
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// The path; consecutive segments of one holder and op become one step.
void set_path(Insight& r, const topology::Graph& system, const RunGraph& graph, const std::vector<PathStep>& path,
              double begin_ns) {
  const PathStep* before = nullptr;
  for (const PathStep& s : path) {
    const bool same = before && before->resource == s.resource && before->is_edge == s.is_edge &&
                      before->index == s.index && before->op == s.op;
    before = &s;
    if (same) {
      r.path.back().to_ns = s.to_ns - begin_ns;
      continue;
    }
    Insight::Step step;
    step.from_ns = s.from_ns - begin_ns;
    step.to_ns = s.to_ns - begin_ns;
    step.resource = s.resource;
    step.holder = holder_name(system, s.is_edge, s.index);
    if (const RunGraph::Op* op = graph.op_at(s.op)) {
      step.op = *op->name;
      if (op->pe < system.pes.size()) step.pe = system.pes[op->pe].id;
      if (op->where.line > 0) step.line = fmt::format("{}:{}", op->where.file, op->where.line);
    }
    r.path.push_back(std::move(step));
  }
}

void set_blame(Insight& r, const topology::Graph& system, const Blame& b) {
  r.by_resource = b.by_resource;
  r.line_of = b.line_of;
  std::map<std::pair<Resource, std::string>, double> kinds;
  for (const Blame::Holder& h : b.by_component) {
    r.by_component.push_back({h.resource, holder_name(system, h.is_edge, h.index), h.ns});
    if (h.is_edge && bound_of(h.resource) == Insight::Bound::bandwidth)
      kinds[{h.resource, system.edges[h.index].kind}] += h.ns;
  }
  for (const auto& [of, ns] : kinds) {
    const auto resource = static_cast<size_t>(of.first);
    if (ns > 0.5 * r.by_resource[resource]) r.edges_of[resource] = "edge:" + of.second;
  }
  for (const Blame::Share& s : b.by_line) r.by_line.push_back({Resource::other, s.name, s.ns});
}

/// Ranks and launches. A run of one kernel has one launch, without a number.
void set_parts(Insight& r, const topology::Graph& system, const RunGraphRecorder& recorder, const Blame& b) {
  std::map<std::string, double> ranks, launches;
  for (const Blame::Number& n : b.by_pe) {
    const std::string pe = n.number < system.pes.size() ? system.pes[n.number].id : "";
    ranks[pe.substr(0, pe.find('.'))] += n.ns;
  }
  for (const Blame::Number& n : b.by_launch) launches[recorder.launch_name(n.number)] += n.ns;
  const auto list = [](const std::map<std::string, double>& shares) {
    std::vector<Insight::Share> all;
    for (const auto& [name, ns] : shares) all.push_back({Resource::other, name, ns});
    std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.ns > y.ns; });
    return all;
  };
  r.by_rank = list(ranks);
  r.by_launch = list(launches);
}

/// The run's last event, and its parts that are repeated.
struct Span {
  Moment end = 0;
  std::vector<RunGraph::Repeated> repeated;
};

/// The run's times on these machines, predicted by the graph.
std::vector<RunGraph::Retimed> retimed(const RunGraph& graph, const Span& run, double sim_ns,
                                       const std::vector<RunGraph::Machine>& machines) {
  std::vector<RunGraph::Retimed> times = graph.retimed(run.end, machines, run.repeated);
  for (RunGraph::Retimed& t : times) {
    t.ns -= graph.ns(0);
    if (std::abs(t.ns - sim_ns) < 1e-6) t.ns = sim_ns;  // rounding error of doubles
  }
  return times;
}

struct Scaled {
  std::vector<Resource> classes;
  double faster = 2;
  Limit without = Limit::none;
};

/// With classes of resources sped up, or without a limit.
std::vector<RunGraph::Retimed> retimed(const RunGraph& graph, const Span& run, double sim_ns,
                                       const std::vector<Scaled>& asked) {
  std::vector<RunGraph::Machine> machines(asked.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    for (const Resource r : asked[i].classes) machines[i].factors[static_cast<size_t>(r)] = 1 / asked[i].faster;
    machines[i].without = asked[i].without;
  }
  return retimed(graph, run, sim_ns, machines);
}

double doubt_ns(const Insight& r, const RunGraph::Retimed& t) {
  return t.overtakes.doubt_ns(t.ns, r.sim_ns, r.by_resource[static_cast<size_t>(Resource::buffers)]);
}

void set_predicted(Insight& r, const RunGraph& graph, const Span& end,
                   const std::vector<std::vector<std::pair<Resource, double>>>& asked) {
  std::vector<RunGraph::Machine> machines(asked.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    for (const auto& [part, factor] : asked[i]) machines[i].factors[static_cast<size_t>(part)] = 1 / factor;
  }
  const std::vector<RunGraph::Retimed> times = retimed(graph, end, r.sim_ns, machines);
  for (size_t i = 0; i < asked.size(); ++i) r.predicted.push_back({asked[i], times[i].ns, doubt_ns(r, times[i])});
}

/// Resources that a different machine cannot make faster.
bool is_given(Resource r) {
  return r == Resource::host || r == Resource::kernel || r == Resource::buffers || r == Resource::other;
}

/// Two classes may bind together, such as equal bandwidths in series; then each alone saves little. `limits`: those
/// that the path waited for.
void set_bounds(Insight& r, const RunGraph& graph, const Span& end, bool slower_too,
                const std::array<bool, kLimits>& limits) {
  constexpr double kTold = 0.005;  // smallest share of the path whose saving is reported in text
  constexpr size_t kTogether = 3;  // number of classes that form pairs
  constexpr double kMore = 1.5;    // ratio by which a pair must save more than both alone, and than the best
  constexpr double kLittle = 0.25;
  r.faster_ns.fill(r.sim_ns);
  r.slower_ns.fill(r.sim_ns);
  std::vector<Resource> by_blame, others;
  for (size_t i = 0; i < kResources; ++i) {
    const auto x = static_cast<Resource>(i);
    if (is_given(x)) continue;
    // Classes that are not on the path save nothing.
    (r.by_resource[i] > (slower_too ? 0 : kTold * r.sim_ns) ? by_blame : others).push_back(x);
  }
  if (by_blame.empty()) return;
  std::stable_sort(by_blame.begin(), by_blame.end(), [&](Resource a, Resource b) {
    return r.by_resource[static_cast<size_t>(a)] > r.by_resource[static_cast<size_t>(b)];
  });
  // All in one walk, because walking the graph is expensive.
  std::vector<Scaled> machines;
  for (const Resource x : by_blame) machines.push_back({{x}, 2});
  const size_t pairs = machines.size();
  for (size_t i = 0; i < std::min(kTogether, by_blame.size()); ++i) {
    for (size_t j = 0; j < i; ++j) machines.push_back({{by_blame[j], by_blame[i]}, 2});
  }
  const size_t without = machines.size();
  for (size_t i = 1; i < kLimits; ++i) {
    if (limits[i]) machines.push_back({{}, 1, static_cast<Limit>(i)});
  }
  const size_t slower = machines.size();
  for (const auto* all : {&by_blame, &others}) {
    for (const Resource x : *all) {
      if (slower_too) machines.push_back({{x}, 0.5});
    }
  }
  const std::vector<RunGraph::Retimed> times = retimed(graph, end, r.sim_ns, machines);
  for (size_t m = 0; m < machines.size(); ++m) {
    if (m >= without && m < slower) {
      r.unlimited.push_back({machines[m].without, times[m].ns, times[m].overtakes.any()});
      continue;
    }
    const auto x = static_cast<size_t>(machines[m].classes.front());
    if (m < pairs) {
      r.faster_ns[x] = times[m].ns;
      r.faster_doubt_ns[x] = doubt_ns(r, times[m]);
    }
    if (m >= slower) {
      r.slower_ns[x] = times[m].ns;
      r.slower_doubt_ns[x] = doubt_ns(r, times[m]);
    }
  }
  std::vector<Resource> by_saving = by_blame;
  std::stable_sort(by_saving.begin(), by_saving.end(), [&](Resource a, Resource b) { return r.saved(a) > r.saved(b); });
  // A bound saves at least a quarter of its share: half of the possible saving.
  const auto share = [&](Resource x) { return r.by_resource[static_cast<size_t>(x)] / r.sim_ns; };
  const auto binds = [&](Resource x) { return r.saved(x) >= kLittle * share(x); };
  const auto bound = std::find_if(by_saving.begin(), by_saving.end(), binds);
  r.bound_by = {bound == by_saving.end() ? by_saving.front() : *bound};
  r.saved_by_bound = r.saved(r.bound_by.front());
  const auto take_pair = [&](const std::vector<Resource>& pair, double ns) {
    const double both = 1 - ns / r.sim_ns;
    if (both <= kMore * (r.saved(pair[0]) + r.saved(pair[1])) || both <= kMore * r.saved_by_bound) return;
    if (both < kLittle * (share(pair[0]) + share(pair[1]))) return;
    r.bound_by = pair;
    r.saved_by_bound = both;
  };
  for (size_t p = pairs; p < without; ++p) take_pair(machines[p].classes, times[p].ns);
  // If two classes bind together, the path may show only one, which then saves far less than half of its blame.
  const Resource most = by_blame.front();
  if (r.bound_by.size() == 1 && r.saved(most) < kLittle * r.by_resource[static_cast<size_t>(most)] / r.sim_ns) {
    std::vector<Scaled> with_most;
    for (const auto* all : {&by_blame, &others}) {
      for (const Resource x : *all) {
        if (x != most) with_most.push_back({{most, x}, 2});
      }
    }
    const std::vector<RunGraph::Retimed> found = retimed(graph, end, r.sim_ns, with_most);
    for (size_t p = 0; p < found.size(); ++p) take_pair(with_most[p].classes, found[p].ns);
  }
  for (const Resource x : by_saving) {
    if (std::find(r.bound_by.begin(), r.bound_by.end(), x) != r.bound_by.end()) continue;
    r.next = x;
    break;
  }
  r.bound = bound_of(*std::max_element(r.bound_by.begin(), r.bound_by.end(), [&](Resource a, Resource b) {
    return r.by_resource[static_cast<size_t>(a)] < r.by_resource[static_cast<size_t>(b)];
  }));
}

void set_links(Insight& r, const topology::Graph& system, const Usage& usage) {
  for (uint32_t e = 0; e < system.edges.size(); ++e) {
    const uint64_t bytes = usage.link_bytes()[e];
    const double bw = system.effective_bw(e);
    if (bytes == 0) continue;
    const double share = bw > 0 ? static_cast<double>(bytes) / (bw * r.run_ns) : 0;
    r.links.push_back({holder_name(system, true, e), resource_of(system, system.edges[e]), bytes, bw, share});
  }
  busiest_first(r.links);
}

/// "sip0.cube3" of "sip0.cube3.hbm_ctrl.pe0": whether one of the run's PEs is there.
bool beside_a_pe(const std::set<std::string>& cubes, const std::string& id) {
  for (size_t at = id.find('.'); at != std::string::npos; at = id.find('.', at + 1)) {
    if (cubes.count(id.substr(0, at)) > 0) return true;
  }
  return false;
}

/// Bytes of each HBM slice that counts for the peak: slices of the cubes with the run's PEs, and other used ones.
std::vector<double> set_memories(Insight& r, Platform& platform, const Usage& usage, const RunFigures& run) {
  const topology::Graph& system = machine_of(platform).graph();
  std::set<std::string> cubes;
  for (const RunFigures::Pe& pe : run.pes) {
    if (const size_t end = pe.id.rfind('.'); end != std::string::npos) cubes.insert(pe.id.substr(0, end));
  }
  double hbm_most = 0;
  std::vector<double> slices;
  for (const topology::Memory& memory : system.memories) {
    const Usage::Memory& m = usage.memories()[memory.node];
    const uint64_t bytes = m.read_bytes + m.write_bytes;
    const bool hbm = memory.space == "hbm";
    const std::string& id = system.nodes[memory.node].id;
    if (bytes == 0 && !(hbm && beside_a_pe(cubes, id))) continue;
    const double most = most_gbs(machine_of(platform), memory.node);
    if (hbm) {
      hbm_most += most;
      slices.push_back(static_cast<double>(bytes));
    }
    if (bytes == 0) continue;
    const double share = most > 0 ? static_cast<double>(bytes) / (most * r.run_ns) : 0;
    r.memories.push_back({id, hbm ? Resource::hbm : Resource::sram, bytes, most, share});
    if (hbm) r.hbm_bytes += static_cast<double>(bytes);
    if (m.channels_ns.size() < 2) continue;
    for (size_t c = 0; c < m.channels_ns.size(); ++c) {
      const double gbs = most / static_cast<double>(m.channels_ns.size());
      r.channels.push_back({fmt::format("{}[{}]", id, c), hbm ? Resource::hbm : Resource::sram,
                            static_cast<uint64_t>(m.channels_ns[c] * gbs + 0.5), gbs, m.channels_ns[c] / r.run_ns});
    }
  }
  r.hbm_gbs_most = r.hbm_bytes > 0 ? hbm_most : 0;
  r.hbm_peak = hbm_most > 0 ? r.hbm_bytes / (hbm_most * r.run_ns) : 0;
  busiest_first(r.memories);
  busiest_first(r.channels);
  return slices;
}

/// Unlimited channels cannot make the run faster than the memory: if all channels are always held, the memory is
/// saturated.
void set_unlimited(Insight& r) {
  std::map<std::string, std::pair<double, size_t>> held;  // by memory
  for (const Insight::Row& c : r.channels) {
    auto& [sum, count] = held[c.name.substr(0, c.name.rfind('['))];
    sum += c.share * r.sim_ns;
    ++count;
  }
  for (Insight::Unlimited& u : r.unlimited) {
    if (u.limit != Limit::channels) continue;
    for (const auto& [memory, of] : held) u.ns = std::max(u.ns, of.first / static_cast<double>(of.second));
    u.ns = std::min(u.ns, r.sim_ns);
  }
  std::stable_sort(r.unlimited.begin(), r.unlimited.end(),
                   [](const Insight::Unlimited& a, const Insight::Unlimited& b) { return a.ns < b.ns; });
}

void set_engines(Insight& r, const RunFigures& run) {
  const double all_ns = r.run_ns * static_cast<double>(run.pes.size());
  r.flops = run.flops;
  if (all_ns > 0) {
    r.gemm_peak = run.gemm_peak_ns / all_ns;
    r.math_busy = run.math_ns / all_ns;
  }
  if (run.gemm_peak_ns > 0)
    r.gemm_tflops_most = run.gemm_flops / run.gemm_peak_ns * static_cast<double>(run.pes.size()) / 1e3;
  if (r.hbm_bytes == 0 || r.flops == 0) return;
  r.flop_per_byte = r.flops / r.hbm_bytes;
  if (r.gemm_tflops_most > 0) r.roofline_tflops = std::min(r.gemm_tflops_most, r.flop_per_byte * r.hbm_gbs_most / 1e3);
}

void set_pes(Insight& r, const RunFigures& run) {
  if (run.pes.empty()) return;
  std::vector<size_t> order(run.pes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return run.pes[a].end_ns < run.pes[b].end_ns; });
  const auto& first = run.pes[order.front()];
  const auto& median = run.pes[order[order.size() / 2]];
  const auto& last = run.pes[order.back()];
  r.pes = {first.id, median.id, last.id, first.end_ns, median.end_ns, last.end_ns};
  r.pes.all = run.pes.size();
  for (const auto& pe : run.pes) {
    r.pes.near_last += last.end_ns - pe.end_ns <= 0.01 * r.run_ns;
    r.pes.working += pe.works;
  }
}

void set_uneven(Insight& r, const topology::Graph& system, RunGraphRecorder& recorder, const RunFigures& run) {
  const double all = r.run_ns * static_cast<double>(run.pes.size());
  if (all <= 0) return;
  std::set<std::string> working;
  for (const RunFigures::Pe& pe : run.pes) {
    if (pe.works) working.insert(pe.id);
  }
  std::vector<bool> works;
  for (const topology::Pe& pe : system.pes) works.push_back(working.count(pe.id) > 0);
  const IdleTimes::Found f = recorder.idle().found(works, run.begin_ns + run.sim_ns);
  r.no_work.share = 1 - static_cast<double>(working.size()) / static_cast<double>(run.pes.size());
  const std::string launch = recorder.launch_name(f.launch);
  r.slowest = {f.slowest / all, (launch.empty() ? "" : " in " + launch) + " for " + system.pes[f.pe].id};
  r.others = {f.others / all,
              fmt::format("{} for {}", system.pes[f.waits_most].id, percent(f.waits_most_ns / r.run_ns))};
}

/// For each limit: choices that cost nothing, as options; else the attributes' names.
void set_limits(Insight& r, const topology::Graph& system) {
  std::array<std::set<std::string>, kLimits> options, names;
  std::set<std::string> seen;
  for (const topology::Node& node : system.nodes) {
    if (!seen.insert(node.impl).second) continue;
    const ImplSpec* impl = component_registry().find(node.impl);
    if (!impl) continue;
    for (const auto& [a, value] : effective_attributes(*impl, node.attrs)) {
      if (a->limit == Limit::none) continue;
      names[static_cast<size_t>(a->limit)].insert(node.kind + "." + a->name);
      const auto* now = std::get_if<std::string>(&value);
      if (!now || a->cost_class() != CostClass::free) continue;
      for (const std::string& other : a->choices) {
        if (other != *now)
          options[static_cast<size_t>(a->limit)].insert(fmt::format("--set '*.{}={}'", a->name, other));
      }
    }
  }
  for (size_t i = 0; i < kLimits; ++i) {
    const auto& best = options[i].empty() ? names[i] : options[i];
    if (best.empty()) continue;
    r.set_by[i] = (options[i].empty() ? "" : "another choice: ") +
                  joined(std::vector<std::string>(best.begin(), best.end()), ", ");
  }
}

Insight::Work work_of(const char* of, std::vector<double> amounts) {
  Insight::Work w;
  w.of = of;
  w.all = amounts.size();
  if (amounts.empty()) return w;
  std::sort(amounts.begin(), amounts.end());
  w.idle = static_cast<size_t>(std::count(amounts.begin(), amounts.end(), 0));
  w.least = amounts.front();
  w.median = amounts[amounts.size() / 2];
  w.most = amounts.back();
  const auto n = static_cast<double>(amounts.size());
  double sum = 0, ranked = 0;
  for (size_t i = 0; i < amounts.size(); ++i) {
    sum += amounts[i];
    ranked += (2 * static_cast<double>(i + 1) - n - 1) * amounts[i];
  }
  w.gini = sum > 0 ? ranked / (n * sum) : 0;
  return w;
}

/// Omits kinds of work that the run has none of, such as FLOP of a copy.
void set_work(Insight& r, const topology::Graph& system, const Usage& usage, const RunFigures& run,
              std::vector<double> slices) {
  std::vector<double> flops, dma, links;
  for (const RunFigures::Pe& pe : run.pes) {
    flops.push_back(pe.flops);
    dma.push_back(static_cast<double>(pe.dma_bytes));
  }
  for (uint32_t e = 0; e < system.edges.size(); ++e) {
    if (system.effective_bw(e) > 0 && system.edges[e].kind != topology::edge_kind::kPeInternal)
      links.push_back(static_cast<double>(usage.link_bytes()[e]));
  }
  for (Insight::Work& w : std::vector<Insight::Work>{
           work_of("PEs, FLOP", std::move(flops)), work_of("PEs, bytes by DMA", std::move(dma)),
           work_of("HBM slices, bytes", std::move(slices)), work_of("links, bytes", std::move(links))}) {
    if (w.most > 0) r.work.push_back(std::move(w));
  }
}

void set_capacity(Insight& r, Platform& platform) {
  const topology::Graph& system = machine_of(platform).graph();
  const auto add = [&](uint32_t node, const char* space, const FirstFitAllocator& a) {
    if (a.high_water() > 0) r.capacity.push_back({system.nodes[node].id, space, a.high_water(), a.capacity()});
  };
  for (const auto& [memory, allocator] : allocators_of(platform).hbm())
    add(system.memories[memory].node, "hbm", allocator);
  for (size_t p = 0; p < machine_of(platform).pes().count(); ++p) {
    const auto tcm = system.pes[p].blocks.find(TcmRole::kKind);
    if (tcm != system.pes[p].blocks.end() && machine_of(platform).pes().pe(p).tcm)
      add(tcm->second, "tcm", machine_of(platform).pes().pe(p).tcm->allocator());
  }
  std::stable_sort(r.capacity.begin(), r.capacity.end(),
                   [](const auto& a, const auto& b) { return a.share() > b.share(); });
}

/// One sentence for each kind of memory that is nearly full.
void tell_capacity(Insight& r) {
  for (const char* space : {"hbm", "tcm"}) {
    const auto in_space = [&](const Insight::Capacity& c) { return c.near() && c.space == space; };
    const auto fullest = std::find_if(r.capacity.begin(), r.capacity.end(), in_space);
    if (fullest == r.capacity.end()) continue;
    const auto others = std::count_if(r.capacity.begin(), r.capacity.end(), in_space) - 1;
    r.verdict.push_back(fmt::format("{} is nearly full: {} of {} bytes at {}, {}{}.",
                                    fullest->space == "hbm" ? "HBM" : "TCM", grouped(fullest->most),
                                    grouped(fullest->bytes), fullest->memory, percent(fullest->share()),
                                    others > 0 ? fmt::format("; above 90 % at {} more", others) : ""));
  }
}

/// Text for a slice of HBM, or an edge to one, that moves far more than the others; else empty.
std::string against_others(const Insight& r, const std::string& holder) {
  constexpr double kFarMore = 1.5;
  const auto slices =
      std::find_if(r.work.begin(), r.work.end(), [](const Insight::Work& w) { return w.of == "HBM slices, bytes"; });
  if (slices == r.work.end() || r.hbm_bytes <= 0) return {};
  const double mean = r.hbm_bytes / static_cast<double>(slices->all);
  for (const Insight::Row& m : r.memories) {
    const double times = static_cast<double>(m.bytes) / mean;
    if (m.resource == Resource::hbm && times > kFarMore &&
        (" " + holder + "->").find(m.name + "->") != std::string::npos)
      return fmt::format(", which moves {:.1f} times the mean of {} slices", times, slices->all);
  }
  return {};
}

/// "sip0.cube0.hbm_ctrl.pe3": the component with most of a class's blame, if it has the majority.
std::string where_most(const Insight& r, Resource resource) {
  const double all = r.by_resource[static_cast<size_t>(resource)];
  for (const Insight::Share& s : r.by_component) {
    if (s.resource != resource || s.name.empty()) continue;
    return s.ns >= 0.5 * all ? fmt::format(", {} of it at {}{}", s.ns >= 0.999 * all ? "all" : percent(s.ns / all),
                                           s.name, against_others(r, s.name))
                             : fmt::format(", most at {} ({})", s.name, percent(s.ns / r.sim_ns));
  }
  return {};
}

/// The resource with the largest blame, if it does not bound the run: it cannot be faster, or others in parallel take
/// as long.
std::string largest_blame(const Insight& r) {
  const auto most =
      static_cast<Resource>(std::max_element(r.by_resource.begin(), r.by_resource.end()) - r.by_resource.begin());
  if (std::find(r.bound_by.begin(), r.bound_by.end(), most) != r.bound_by.end()) return {};
  const double share = r.by_resource[static_cast<size_t>(most)] / r.sim_ns;
  const std::string& line = r.line_of[static_cast<size_t>(most)];
  std::string text = fmt::format("The largest part of the critical path, {}, is {}{}{}", percent(share),
                                 title_of(r, most), where_most(r, most), line.empty() ? "" : ", at " + line);
  if (!is_given(most)) text += fmt::format("; twice as fast, it would save {} of the run", percent(r.saved(most)));
  return text + ". ";
}

/// A cause outside the path that would save more than the bottleneck: a limit, or work that is spread unevenly.
std::string first_cause(const Insight& r) {
  double most = std::max(r.saved_by_bound, 0.01);
  std::string text;
  const auto take = [&](double share, const std::string& words) {
    if (share <= most) return;
    most = share;
    text = words;
  };
  if (!r.unlimited.empty()) {
    const Insight::Unlimited& u = r.unlimited.front();
    const std::string& by = r.set_by[static_cast<size_t>(u.limit)];
    const double share = 1 - u.ns / r.sim_ns;
    take(share, fmt::format("The run waits for {} first: without that limit it would take up to {} less{}. ",
                            title_of(u.limit), percent(share), by.empty() ? "" : " (" + by + ")"));
  }
  const auto evenly = [](const Insight::Uneven& u) {
    return fmt::format("with work spread evenly it would take up to {} less. ", percent(u.share));
  };
  take(r.no_work.share,
       fmt::format("{} of {} PEs have no work: {}", r.pes.all - r.pes.working, r.pes.all, evenly(r.no_work)));
  take(r.slowest.share,
       fmt::format("PEs wait for the slowest of their launch, most{}: {}", r.slowest.where, evenly(r.slowest)));
  take(r.others.share,
       fmt::format("PEs wait while launches run on others, such as pipeline stages or groups of experts, "
                   "{} of the run: {}",
                   r.others.where, evenly(r.others)));
  return text;
}

void set_verdict(Insight& r) {
  const auto share = [&](Resource x) { return r.by_resource[static_cast<size_t>(x)] / r.sim_ns; };
  double latency = 0;
  for (size_t i = 0; i < kResources; ++i) {
    if (bound_of(static_cast<Resource>(i)) == Insight::Bound::dependencies) latency += r.by_resource[i] / r.sim_ns;
  }
  if (r.bound_by.empty()) {
    r.verdict.push_back(first_cause(r) + largest_blame(r) + "No part of the machine bounds it.");
  } else if (r.bound_by.size() == 2) {
    r.verdict.push_back(fmt::format(
        "{}{}Bound by {} and {} together: {} of the critical path. Twice as fast, both would save {} of the run; one "
        "alone {} or {}.",
        first_cause(r), largest_blame(r), title_of(r, r.bound_by[0]), title_of(r, r.bound_by[1]),
        percent(share(r.bound_by[0]) + share(r.bound_by[1])), percent(r.saved_by_bound),
        percent(r.saved(r.bound_by[0])), percent(r.saved(r.bound_by[1]))));
  } else {
    r.verdict.push_back(
        fmt::format("{}{}Bound by {}: {} of the critical path{}. Twice as fast, it would save {} of the run.",
                    first_cause(r), largest_blame(r), title_of(r, r.bound_by[0]), percent(share(r.bound_by[0])),
                    where_most(r, r.bound_by[0]), percent(r.saved_by_bound)));
  }
  if (r.bound == Insight::Bound::dependencies && !r.bound_by.empty())
    r.verdict.push_back(
        fmt::format("Latency bounds the run, not a rate: {} of the path is latency.", percent(latency)));
  if (r.pes.working < r.pes.all) {
    const auto slices =
        std::find_if(r.work.begin(), r.work.end(), [](const Insight::Work& w) { return w.of == "HBM slices, bytes"; });
    r.verdict.push_back(fmt::format(
        "{} of {} PEs have work{}; the peaks are those of all.", r.pes.working, r.pes.all,
        slices == r.work.end() ? "" : fmt::format(", {} of {} HBM slices", slices->all - slices->idle, slices->all)));
  }
  std::string peaks;
  const auto add = [&](const std::string& text) { peaks += (peaks.empty() ? "" : ", ") + text; };
  if (r.gemm_tflops_most > 0) add("GEMM at " + percent(r.gemm_peak) + " of its peak");
  if (r.hbm_gbs_most > 0) add("HBM at " + percent(r.hbm_peak) + " of its");
  if (!r.links.empty() && r.links.front().share > 0)
    add("the busiest link at " + percent(r.links.front().share) + " (" + r.links.front().name + ")");
  if (r.next != Resource::other && share(r.next) > 0.001)
    add(fmt::format("next: {} ({} of the path)", title_of(r, r.next), percent(share(r.next))));
  if (!peaks.empty()) r.verdict.push_back(peaks + ".");
}

}  // namespace

std::string_view name_of(Insight::Bound b) {
  switch (b) {
    case Insight::Bound::compute:
      return "compute";
    case Insight::Bound::bandwidth:
      return "bandwidth";
    case Insight::Bound::launch:
      return "launch";
    case Insight::Bound::dependencies:
      return "dependencies";
  }
  return "";
}

std::string title_of(const Insight& r, Resource x) {
  const std::string& edges = r.edges_of[static_cast<size_t>(x)];
  return edges.empty() ? std::string(title_of(x)) : fmt::format("{} ({})", title_of(x), edges);
}

Explainer::Explainer(Platform& platform, bool details, const std::vector<std::string>& predict)
    : platform_(platform), recorder_(machine_of(platform), details), usage_(machine_of(platform)), details_(details) {
  for (const std::string& p : predict) predict_.push_back(factors_of("--predict", p));
}

std::string Explainer::causes(size_t most) const {
  return packed_joins(recorder_.graph(), end_, most);
}

std::shared_ptr<const Insight> Explainer::explain(const RunFigures& run) {
  auto made = std::make_shared<Insight>();
  Insight& r = *made;
  const topology::Graph& system = machine_of(platform_).graph();
  const RunGraph& graph = recorder_.graph();
  r.sim_ns = r.run_ns = run.sim_ns;
  r.moments = graph.size();
  r.graph_bytes = graph.bytes();
  r.contradictions = graph.contradictions();
  r.unexplained_ns = graph.unexplained_ns();
  const Moment end = end_ = recorder_.end(run.begin_ns + run.sim_ns);
  const CriticalPath path = critical_path(graph, end);
  if (details_) set_path(r, system, graph, path.steps, run.begin_ns);
  const Blame blamed = blame(graph, stretched(path.steps, run));
  const Span span{end, repeated(path, run)};
  for (const RunGraph::Repeated& p : span.repeated) r.sim_ns += p.more * (graph.ns(p.to) - graph.ns(p.from));
  set_blame(r, system, blamed);
  set_parts(r, system, recorder_, blamed);
  if (r.sim_ns > 0) set_bounds(r, graph, span, details_, path.limits);
  set_predicted(r, graph, span, predict_);
  set_links(r, system, usage_);
  std::vector<double> slices = set_memories(r, platform_, usage_, run);
  set_unlimited(r);
  set_engines(r, run);
  set_pes(r, run);
  set_uneven(r, system, recorder_, run);
  set_limits(r, system);
  set_work(r, system, usage_, run, std::move(slices));
  for (size_t p = 0; p < machine_of(platform_).pes().count(); ++p) {
    r.issue_ns_mean += recorder_.issue_ns(p) / static_cast<double>(std::max<size_t>(1, run.pes.size()));
    r.issue_ns_most = std::max(r.issue_ns_most, recorder_.issue_ns(p));
  }
  if (r.sim_ns > 0) set_verdict(r);
  set_capacity(r, platform_);
  tell_capacity(r);
  return made;
}

}  // namespace kernbench::insight
