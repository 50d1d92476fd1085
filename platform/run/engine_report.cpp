// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/engine_report.h"

#include <algorithm>
#include <set>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench {

namespace {

/// For a PE with connections (collectives rules §10.15).
void add_queue_servers(const Pe& pe, double sim_ns, std::vector<EngineReport>& v) {
  if (!pe.ipcq) return;
  const std::vector<QueueServerStatistics> all = pe.ipcq->queue_statistics();
  // A program's last launch may have none.
  const bool used = std::any_of(all.begin(), all.end(), [](const QueueServerStatistics& s) { return s.ops > 0; });
  if (!used && pe.ipcq->ports().empty()) return;
  for (const QueueServerStatistics& s : all) {
    EngineReport r;
    r.id = pe.id + (s.name == "comm" ? ".pe_dma." : ".pe_ipcq.") + s.name;
    r.busy_ns = s.busy_ns;
    r.idle_ns = sim_ns - s.busy_ns;
    r.ops = s.ops;
    r.bytes = s.bytes;
    r.servers = 1;
    r.utilization = sim_ns > 0 ? s.busy_ns / sim_ns : 0;
    r.message_stalls = s.stalls;
    v.push_back(r);
  }
}

}  // namespace

std::vector<EngineReport> engine_reports(Machine& machine, const std::vector<size_t>& pes, double sim_ns) {
  const Kinds& kinds = component_catalog().kinds();
  std::vector<EngineReport> v;
  for (size_t p : pes) {
    machine.pes().pe(p).scheduler->settle(sim_ns);
    for (const auto& [block, engine, index] : machine.pes().pe(p).engines) {
      engine->settle(sim_ns);
      const topology::Node& node = machine.graph().nodes[index];
      const bool apart = kinds.find(node.kind)->facts.engine.stages_apart;
      EngineReport r;
      const auto push = [&](const std::string& id) {
        r.id = id;
        r.utilization = sim_ns > 0 ? r.busy_ns / (sim_ns * r.servers) : 0;
        v.push_back(r);
        r = {};
      };
      for (const StageStatistics& s : engine->statistics()) {
        r.busy_ns += s.busy_ns;
        r.ops += s.ops;
        r.bytes += s.bytes;
        r.flops += s.flops;
        r.peak_ns += s.peak_ns;
        r.idle_ns += s.idle_ns;
        r.slot_wait_ns += s.slot_wait_ns;
        r.queue_full_ns += s.queue_full_ns;
        r.link_wait_ns += s.link_wait_ns;
        r.memory_wait_ns += s.memory_wait_ns;
        r.servers += s.servers;
        r.elementwise |= kinds.stage(s.stage).work == StageWork::elements;
        if (apart) push(node.id + "." + kinds.stage(s.stage).short_name);
      }
      if (r.servers > 0) push(node.id);
    }
    add_queue_servers(machine.pes().pe(p), sim_ns, v);
  }
  return v;
}

std::vector<QueueTraffic> queue_traffic(Machine& machine, const std::vector<size_t>& pes) {
  std::vector<QueueTraffic> all;
  for (size_t p : pes) {
    if (!machine.pes().pe(p).ipcq) continue;
    for (QueueTraffic& q : machine.pes().pe(p).ipcq->queue_traffic()) all.push_back(std::move(q));
  }
  return all;
}

std::vector<EngineReport> since(std::vector<EngineReport> now, const std::vector<EngineReport>& then, double ns) {
  for (EngineReport& e : now) {
    const auto it = std::find_if(then.begin(), then.end(), [&](const EngineReport& t) { return t.id == e.id; });
    if (it == then.end()) continue;
    const EngineReport& t = *it;
    e.ops -= t.ops;
    e.bytes -= t.bytes;
    for (double EngineReport::*part :
         {&EngineReport::busy_ns, &EngineReport::flops, &EngineReport::peak_ns, &EngineReport::idle_ns,
          &EngineReport::slot_wait_ns, &EngineReport::queue_full_ns, &EngineReport::link_wait_ns,
          &EngineReport::memory_wait_ns})
      e.*part -= t.*part;
    for (size_t i = 0; i < std::min(e.message_stalls.size(), t.message_stalls.size()); ++i)
      e.message_stalls[i].ns -= t.message_stalls[i].ns;
    e.utilization = ns > 0 ? e.busy_ns / (ns * e.servers) : 0;
  }
  return now;
}

std::vector<QueueTraffic> since(std::vector<QueueTraffic> now, const std::vector<QueueTraffic>& then) {
  for (QueueTraffic& q : now) {
    const auto it = std::find_if(then.begin(), then.end(), [&](const QueueTraffic& t) {
      return t.from == q.from && t.port == q.port && t.to == q.to && t.peer_port == q.peer_port;
    });
    if (it == then.end()) continue;
    q.messages -= it->messages;
    q.segments -= it->segments;
    q.bytes -= it->bytes;
    for (const SegmentPart& p : kSegmentParts) q.account.*p.ns -= it->account.*p.ns;
  }
  now.erase(std::remove_if(now.begin(), now.end(), [](const QueueTraffic& q) { return q.segments == 0; }), now.end());
  return now;
}

std::vector<std::string> engine_notes(Machine& machine, const std::vector<size_t>& pes) {
  std::set<std::string> lines;
  for (size_t p : pes) {
    for (const Pe::Engine& e : machine.pes().pe(p).engines) {
      for (std::string& line : e.role->notes()) lines.insert(std::move(line));
    }
  }
  return {lines.begin(), lines.end()};
}

}  // namespace kernbench
