// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/energy/activity.h"

#include <algorithm>
#include <cmath>

#include "kernbench/phase2/energy/energy_table.h"
#include "kernbench/phase2/op/math_op.h"
#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/systemc_models/core/component_catalog.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe_gemm.h"
#include "kernbench/systemc_models/pe/pe_math.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::energy {
namespace {

const KindFacts& facts_of(const topology::Node& n) {
  return component_catalog().kinds().find(n.kind)->facts;
}

/// Whether one contains the other: a port and its connection.
bool one_holds_other(const std::string& a, const std::string& b) {
  const auto holds = [](const std::string& whole, const std::string& part) {
    return part.size() > whole.size() && part.compare(0, whole.size(), whole) == 0 && part[whole.size()] == '.';
  };
  return holds(a, b) || holds(b, a);
}

/// The constant of a bit over that edge: "wire", or between dies that of their PHYs.
std::string constant_of(const topology::Graph& graph, const topology::Edge& e) {
  if (e.kind == topology::edge_kind::kPcie) return e.kind;
  const topology::Node &from = graph.nodes[e.from], &to = graph.nodes[e.to];
  const std::string& phy = facts_of(from).phy;
  const bool between_dies = e.kind == topology::edge_kind::kUcie && phy == facts_of(to).phy && !phy.empty() &&
                            !one_holds_other(from.id, to.id);
  return between_dies ? phy : "wire";
}

constexpr uint64_t kBits = 8;

}  // namespace

Activity::Activity(Machine& machine, ActivitySink& sink) : machine_(machine), sink_(sink) {
  const topology::Graph& graph = machine.graph();
  edge_rows_.assign(graph.edges.size(), kNone);
  router_rows_.assign(graph.nodes.size(), kNone);
  other_rows_.resize(graph.nodes.size());
  pe_of_.assign(graph.nodes.size(), kNoPe);
  for (const topology::Node& n : graph.nodes) passing_.push_back(n.transit ? facts_of(n).passing : "");
  for (size_t p = 0; p < machine.pes().count(); ++p) {
    Pe& pe = machine.pes().pe(p);
    pe.observers.add(*this);
    pe_of_[pe.dma] = static_cast<uint32_t>(p);
  }
  watch_fabric(machine, *this, FabricParts::blocks);
}

Activity::~Activity() {
  for (size_t p = 0; p < machine_.pes().count(); ++p) machine_.pes().pe(p).observers.remove(*this);
  unwatch_fabric(machine_, *this);
}

double Activity::open_from_ns() const {
  const double now = machine_.now_ns();
  return starts_.empty() ? now : std::min(now, *starts_.begin());
}

void Activity::begin(Work work, double t) {
  if (const auto [it, is_new] = open_.try_emplace(work, t); !is_new) {
    starts_.erase(starts_.find(it->second));
    it->second = t;
  }
  starts_.insert(t);
}

double Activity::end(Work work) {
  const auto it = open_.find(work);
  if (it == open_.end()) return machine_.now_ns();  // it began before counting
  const double from = it->second;
  starts_.erase(starts_.find(from));
  open_.erase(it);
  return from;
}

void Activity::add_to(size_t row, uint64_t amount, Span span) {
  rows_[row].count += amount;
  sink_.counted(row, amount, span.from, std::max(span.from, span.to));
}

template <class Make>
void Activity::add(uint32_t place, std::string_view action, uint64_t amount, Span span, const Make& make) {
  auto& rows = other_rows_[place];
  auto it = rows.find(action);
  if (it == rows.end()) {
    it = rows.emplace(action, rows_.size()).first;
    ActivityRow row;
    row.place = place;
    row.action = action;
    make(row);
    sink_.row_added(rows_.emplace_back(std::move(row)));
  }
  add_to(it->second, amount, span);
}

// ---- the fabric

void Activity::access_started(const Component&, const FabricTransaction& x, double t) {
  begin({&x, 0}, t);
}

void Activity::post_started(const Component&, const FabricTransaction& x, double t) {
  begin({&x, 0}, t);
}

void Activity::add_edge(uint32_t edge, uint64_t bits, Span span) {
  if (edge >= edge_rows_.size() || bits == 0) return;
  if (edge_rows_[edge] == kNone) {
    const topology::Graph& graph = machine_.graph();
    const topology::Edge& e = graph.edges[edge];
    ActivityRow row;
    row.place = static_cast<uint32_t>(graph.nodes.size()) + edge;
    row.action = "bits";
    row.constant = constant_of(graph, e);
    if (row.constant == "wire") row.nm = e.nm();
    edge_rows_[edge] = rows_.size();
    sink_.row_added(rows_.emplace_back(std::move(row)));
  }
  add_to(edge_rows_[edge], bits, span);
}

/// Counts each edge and each router of its path, in both directions.
void Activity::add_way(const FabricTransaction& x, Span span) {
  const System& system = machine_.system();
  const bool back = !x.rows.posted && system.responses_travel();
  const auto bits_on_link = [&](bool response) {
    const double bytes = system.mode().bytes_on_link(static_cast<double>(x.data_bytes(response))) +
                         static_cast<double>(response ? 0 : x.rows.list_bytes);
    return static_cast<uint64_t>(std::llround(bytes * static_cast<double>(kBits)));
  };
  const uint64_t there_bits = bits_on_link(false);
  const uint64_t back_bits = back ? bits_on_link(true) : x.data_bytes(true) * kBits;
  for (const bool response : {false, true}) {
    const uint64_t bits = response ? back_bits : there_bits;
    if (bits == 0) continue;
    for (const PathHop& hop : x.path(response)) {
      if (!x.carries(response, hop.number)) continue;  // once per edge of a multicast or a reduction
      add_edge(hop.link->edge, bits, span);
      if (hop.number > 0) add_router(hop.node().owner().index(), bits, span);
    }
  }
}

void Activity::add_router(uint32_t node, uint64_t bits, Span span) {
  if (node >= passing_.size() || passing_[node].empty() || bits == 0) return;
  if (router_rows_[node] == kNone) {
    ActivityRow row;
    row.place = node;
    row.action = "bits";
    row.constant = passing_[node];
    router_rows_[node] = rows_.size();
    sink_.row_added(rows_.emplace_back(std::move(row)));
  }
  add_to(router_rows_[node], bits, span);
}

void Activity::access_done(const Component& initiator, const FabricTransaction& x, double t) {
  const Span span{end({&x, 0}), t};
  for_each_destination(x, [&](const FabricTransaction& d) {
    add_way(d, span);
    const MemoryTarget* memory = d.route->target;
    if (!memory || memory->index() >= pe_of_.size() || !d.comes_to_memory()) return;
    add_memory(memory->index(), d.write, memory->moved_bytes(d), span);
    if (d.is_atomic()) add_memory(memory->index(), false, memory->moved_bytes(d), span);
    if (const auto activates = memory->activates()) add_activates(memory->index(), *activates, span);
  });
  if (initiator.index() >= pe_of_.size() || pe_of_[initiator.index()] == kNoPe) return;
  const Pe& pe = machine_.pes().pe(pe_of_[initiator.index()]);
  for (const bool response : {false, true}) {
    if (x.has_data(response)) add_tcm(pe, response, x.data_bytes(response), span);
  }
}

void Activity::post_done(const Component&, const FabricTransaction& x, double t) {
  add_way(x, {end({&x, 0}), t});
}

void Activity::add_memory(uint32_t node, bool write, uint64_t bytes, Span span) {
  if (bytes == 0) return;
  add(node, write ? "write_bits" : "read_bits", bytes * kBits, span, [&](ActivityRow& row) {
    const topology::Graph& graph = machine_.graph();
    if (graph.nodes[node].space == name_of(Space::hbm)) {
      const auto* memory = dynamic_cast<const MemoryTarget*>(&machine_.blocks().component(node));
      row.constant = memory && memory->activates() ? "hbm.open_row" : "hbm.access";
      return;
    }
    for (const topology::Memory& m : graph.memories) {
      if (m.node == node) row.sram_bytes += m.size;
    }
    row.write = write;
    row.constant = sram_constant_name(row.sram_bytes, write);
  });
}

void Activity::add_activates(uint32_t node, uint64_t so_far, Span span) {
  uint64_t& told = activates_[node];
  if (so_far > told)
    add(node, "activates", so_far - told, span, [](ActivityRow& row) { row.constant = "hbm.activate"; });
  told = so_far;
}

/// Writes that a controller had not finished.
void Activity::settle() {
  const double now = machine_.now_ns();
  for (const auto& [node, told] : activates_) {
    const auto& memory = dynamic_cast<const MemoryTarget&>(machine_.blocks().component(node));
    add_activates(node, memory.activates().value_or(told), {now, now});
  }
}

// ---- PEs

void Activity::add_tcm(const Pe& pe, bool write, uint64_t bytes, Span span) {
  if (!pe.tcm || bytes == 0) return;
  const auto& blocks = machine_.graph().pes[pe.index].blocks;
  const auto tcm = blocks.find(TcmRole::kKind);
  if (tcm == blocks.end()) return;
  add(tcm->second, write ? "write_bits" : "read_bits", bytes * kBits, span, [&](ActivityRow& row) {
    row.sram_bytes = pe.tcm->reserved_bytes() + pe.tcm->allocatable_bytes();
    row.write = write;
    row.constant = sram_constant_name(row.sram_bytes, write);
  });
}

void Activity::add_math(uint32_t engine, const std::string& op, const PeItem& item, Span span) {
  const auto elements = static_cast<uint64_t>(math_elements(item));
  if (elements == 0) return;
  add(engine, op, elements, span, [&](ActivityRow& row) { row.constant = "math." + op; });
}

void Activity::server_changed(const Pe& pe, Stage stage, unsigned server, kernbench::Activity activity,
                              const PeItem* item, uint64_t, double t) {
  const Work work{&pe, static_cast<unsigned>(stage) << 16 | server};
  if (activity == kernbench::Activity::service) begin(work, t);
  // A state after a service, however short.
  if (activity == kernbench::Activity::queue_full) add_service(pe, stage, *item, {end(work), t});
}

void Activity::add_service(const Pe& pe, Stage stage, const PeItem& item, Span span) {
  switch (component_catalog().kinds().stage(stage).work) {
    case StageWork::fetches:
      return add_tcm(pe, false, item.fetch_bytes(), span);
    case StageWork::stores:
      return add_tcm(pe, true, item.store_bytes(), span);
    case StageWork::macs: {
      const std::string& dtype = item.token ? item.command->plan.dtype : item.command->dtype;
      const auto macs = static_cast<uint64_t>(gemm_flops(item) / 2);
      if (macs == 0) break;
      add(pe.engine_at(stage).index(), dtype, macs, span, [&](ActivityRow& row) {
        row.action = "macs_" + dtype;
        row.constant = "mac." + dtype;
      });
      break;
    }
    case StageWork::elements: {
      const uint32_t engine = pe.engine_at(stage).index();
      const auto all = [&](const std::vector<std::string>& ops) {
        for (const std::string& op : ops) add_math(engine, op, item, span);
      };
      if (!item.token) {
        const MathOp* op = item.command->math_op;
        if (op && op->kind == MathKind::chain) {
          all(item.command->combines);
        } else {
          add_math(engine, item.command->op, item, span);
        }
        break;
      }
      const CompositePlan& plan = item.command->plan;
      all(plan.per_tile);
      if (item.last_k) all(plan.per_output_tile);
      if (item.last_output) all(plan.once);
      break;
    }
    case StageWork::reads:
    case StageWork::writes:
      return;  // its transactions count instead
  }
  if (item.token) return;
  add_tcm(pe, false, item.command->in_bytes, span);
  add_tcm(pe, true, item.command->out_bytes, span);
}

// ---- queues between PEs

void Activity::segment_taken(const Pe&, QueueServer server, const QueueSegment& s, double t) {
  begin({&s, static_cast<unsigned>(server)}, t);
}

void Activity::segment_served(const Pe& pe, QueueServer server, const QueueSegment& s, double from, double to) {
  end({&s, static_cast<unsigned>(server)});
  const Span span{from, to};
  switch (server) {
    case QueueServer::comm:
      return add_tcm(pe, false, s.nbytes, span);
    case QueueServer::inbound:
      return;
    case QueueServer::writer:
      return add_slot(pe, pe.ipcq->ports()[s.receiver_port].ring, true, s.nbytes, span);
    case QueueServer::reader:
      add_slot(pe, pe.ipcq->ports()[s.receiver_port].ring, false, s.nbytes, span);
      return add_tcm(pe, true, s.nbytes, span);
  }
}

void Activity::add_slot(const Pe& pe, const QueueRing& ring, bool write, uint64_t bytes, Span span) {
  if (ring.space == Space::tcm) return add_tcm(pe, write, bytes, span);
  if (const topology::Memory* m = machine_.graph().memory_at(ring.addr)) add_memory(m->node, write, bytes, span);
}

}  // namespace kernbench::energy
