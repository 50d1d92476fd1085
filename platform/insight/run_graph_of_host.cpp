// SPDX-License-Identifier: Apache-2.0
// The host's launches and transfers (timing rules §7, collectives rules §13), and the recorder's construction and end.
#include <algorithm>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/platform/launch/launch_way.h"
#include "kernbench/systemc_models/core/component_catalog.h"
#include "kernbench/systemc_models/fabric/control_legs.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench::insight {

RunGraphRecorder::RunGraphRecorder(Machine& machine, bool turns)
    : machine_(machine),
      graph_(machine.now_ns(), machine.graph().has_finite_buffers() ? Resource::buffers : Resource::other),
      pes_(machine.pes().count()),
      pe_of_node_(machine.graph().nodes.size(), CostPart::kNobody),
      memories_(machine.graph().nodes.size()),
      links_(machine.graph().edges.size()),
      last_access_(machine.graph().nodes.size() + 1),
      idle_(machine.pes().count()),
      responses_travel_(machine.system().responses_travel()),
      turns_(turns) {
  for (size_t p = 0; p < pes_.size(); ++p) {
    Pe& pe = machine.pes().pe(p);
    PeState& s = pes_[p];
    const auto& blocks = machine.graph().pes[p].blocks;
    const auto node = [&](const char* kind, double* overhead_ns) {
      const auto it = blocks.find(kind);
      if (it == blocks.end()) return CostPart::kNobody;
      const PeBlock* block = overhead_ns ? machine.blocks().component(it->second).pe_block() : nullptr;
      if (block) *overhead_ns = block->block_overhead_ns();
      return it->second;
    };
    s.cpu = node(CpuRole::kKind, nullptr);
    s.scheduler = node(SchedulerRole::kKind, &s.scheduler_ns);
    s.queues = node(IpcqRole::kKind, &s.queues_ns);
    pe_of_node_[pe.dma] = static_cast<uint32_t>(p);
    for (const Pe::Engine& e : pe.engines) {
      for (const StageStatistics& stage : e.role->statistics()) {
        StageState& st = s.stages[static_cast<size_t>(stage.stage)];
        st.node = e.block->index();
        if (const PeBlock* block = e.block->pe_block()) st.overhead_ns = block->block_overhead_ns();
        st.engine = e.role;
        st.work = component_catalog().kinds().stage(stage.stage).work;
        st.needs_slot = stage.needs_slot;
        st.depth = std::max(1u, stage.queue_depth);
        st.taken.assign(st.depth, 0);
        st.servers.resize(stage.servers);
      }
    }
    pe.observers.add(*this);
  }
  for (uint32_t n = 0; n < memories_.size(); ++n) {
    nodes_.push_back(resource_of(machine.graph().nodes[n]));
    if (machine.graph().nodes[n].space == name_of(Space::sram)) memories_[n].bandwidth = Resource::sram;
  }
  for (size_t e = 0; e < links_.size(); ++e) {
    links_[e].resource = resource_of(machine.graph(), machine.graph().edges[e]);
    links_[e].node = machine.graph().edges[e].from;
  }
  const bool links_serve = machine.system().mode().links_serve();
  watch_fabric(machine_, *this, links_serve ? FabricParts::blocks_and_links : FabricParts::blocks);
  machine.host_observers().add(*this);
}

RunGraphRecorder::~RunGraphRecorder() {
  for (size_t p = 0; p < pes_.size(); ++p) machine_.pes().pe(p).observers.remove(*this);
  unwatch_fabric(machine_, *this);
  machine_.host_observers().remove(*this);
}

Moment RunGraphRecorder::end(double t_ns) {
  const double left = t_ns - graph_.ns(host_);
  if (left > 0)
    host_ = graph_.add(t_ns, host_line(t_ns),
                       {{host_, graph_.cost(CostPart{Resource::host, false, CostPart::kNobody, left})}});
  return host_;
}

void RunGraphRecorder::host_waits(const SourceLine& where, double until) {
  delays_.emplace_back(until, graph_.op("delay", where));
}

/// The delay that the host has waited for since its last event.
OpNumber RunGraphRecorder::host_line(double t) {
  const auto over = [&](const auto& d) { return d.first <= graph_.ns(host_); };
  delays_.erase(std::remove_if(delays_.begin(), delays_.end(), over), delays_.end());
  const auto it =
      std::find_if(delays_.rbegin(), delays_.rend(), [&](const auto& d) { return d.first <= t + RunGraph::kSameNs; });
  return it == delays_.rend() ? 0 : it->second;
}

std::string RunGraphRecorder::launch_name(uint32_t number) const {
  const auto it = launch_names_.find(number);
  return it == launch_names_.end() ? std::string() : it->second;
}

void RunGraphRecorder::transfer_started(const void* id, bool, uint64_t, double t) {
  transfers_[id] = end(t);
}

void RunGraphRecorder::transfer_done(const void* id, double t) {
  const auto it = transfers_.find(id);
  if (it == transfers_.end()) return;
  host_ = graph_.add(t, 0, {{it->second, 0}});
  transfers_.erase(it);
}

/// The cost of a message from one node to the next.
void RunGraphRecorder::add_leg(std::vector<CostPart>& parts, uint32_t from, uint32_t to) {
  const ControlLeg& leg = machine_.system().control_legs().leg(from, to);
  for (const PathHop& hop : leg.path()) {
    const Component& node = hop.node().owner();
    if (node.index() < machine_.graph().nodes.size()) parts.push_back(of_node(node, ControlLeg::ns_at(hop)));
    if (hop.link->wire_ns > 0) parts.push_back({Resource::wires, true, hop.link->edge, hop.link->wire_ns});
  }
}

/// Costs to each PE of a launch, or back.
std::vector<Cost> RunGraphRecorder::launch_costs(const LaunchWay& way) {
  const auto host = static_cast<uint32_t>(machine_.graph().nodes.size());
  std::vector<Cost> costs;
  for (const ControlAddress& a : *way.addresses) {
    std::vector<CostPart> parts;
    uint32_t from = host;
    for (uint32_t stop = way.mode == LaunchMode::host ? ControlAddress::kIoCpu : ControlAddress::kPeCpu;
         stop < ControlAddress::kStops; ++stop) {
      add_leg(parts, from, a.stops[stop]);
      from = a.stops[stop];
    }
    costs.push_back(graph_.cost(parts));
  }
  return costs;
}

void RunGraphRecorder::launch_sent(const void* id, const LaunchId& name, const std::vector<size_t>& pes,
                                   const LaunchWay& way, double t) {
  if (name.number != kNoLaunch) launch_names_[name.number] = name.what;
  const double waited = t - graph_.ns(host_);
  causes_ = {{host_, graph_.cost(CostPart{Resource::host, false, CostPart::kNobody, waited})}};
  for (const size_t p : pes) {
    const Moment before = pes_[p].returned;
    if (before != 0 && before != host_ && causes_.back().from != before) causes_.push_back({before, 0});
  }
  const Moment sent = add(t, host_line(t));
  Launch& launch = launches_[id];
  launch = {name.number, pes, launch_costs(way)};
  // All PEs share one start stamp: the last arrival.
  const Cost start = *std::max_element(launch.ways.begin(), launch.ways.end(),
                                       [&](Cost a, Cost b) { return graph_.cost_ns(a) < graph_.cost_ns(b); });
  for (const size_t p : pes) {
    pes_[p].launch = sent;
    pes_[p].start = start;
    pes_[p].last_done = 0;
  }
}

void RunGraphRecorder::launch_returned(const void* id, const std::vector<uint32_t>& places, double t) {
  const auto it = launches_.find(id);
  if (it == launches_.end()) return;
  for (const uint32_t place : places) {
    PeState& s = pes_[it->second.pes[place]];
    const Cost back = it->second.ways[place];
    causes_.push_back({s.ended, back});
    if (s.last_done != 0) causes_.push_back({s.last_done, back});
    if (graph_.ns(s.last_done) > graph_.ns(s.ended)) s.ended = s.last_done;
    idle_.ends(it->second.pes[place], graph_.ns(s.ended));
  }
  host_ = add(t, 0);
  for (const uint32_t place : places) pes_[it->second.pes[place]].returned = host_;
}

void RunGraphRecorder::launch_done(const void* id, double) {
  const auto it = launches_.find(id);
  if (it == launches_.end()) return;
  idle_.launch_ends(it->second.number, it->second.pes);
  launches_.erase(it);
}

}  // namespace kernbench::insight
