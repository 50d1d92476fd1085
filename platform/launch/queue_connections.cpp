// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/queue_connections.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <unordered_set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::launch {
namespace {

class Connecting {
 public:
  Connecting(Machine& machine, const std::vector<size_t>& pes, RingPlaces& places, std::string what)
      : machine_(machine), pes_(pes), places_(places), what_(std::move(what)), ports_(pes.size()), names_(pes.size()) {}

  /// Grouping paths by their start makes the search faster. Missing paths are reported with their connection.
  void find_ways(const std::vector<QueueConnection>& connections) {
    std::vector<std::pair<uint32_t, uint32_t>> ways;
    const auto known = [&](int64_t i) { return i >= 0 && i < static_cast<int64_t>(pes_.size()); };
    for (const QueueConnection& c : connections) {
      if (!known(c.a) || !known(c.b) || c.a == c.b) continue;
      const uint32_t a = pe(static_cast<size_t>(c.a)).dma, b = pe(static_cast<size_t>(c.b)).dma;
      ways.insert(ways.end(), {{a, b}, {b, a}});
    }
    std::sort(ways.begin(), ways.end());
    for (const auto& [from, to] : ways) {
      try {
        machine_.routes().message_route(from, to);
        machine_.routes().reversed_message_route(from, to);
      } catch (const AccessError&) {
      }
    }
  }

  void connect(const QueueConnection& c, size_t number) {
    where_ = what_ + "[" + std::to_string(number) + "]: ";
    const size_t a = launched(c.a), b = launched(c.b);
    if (a == b) refuse(pe(a).id + " is connected with itself; expected two PEs");
    check_geometry(c);
    for (const size_t p : {a, b}) require_blocks(p);
    QueuePort &at_a = add_port(a, c.port), &at_b = add_port(b, c.peer_port);
    for (const auto& [i, port] : {std::pair(a, &at_a), std::pair(b, &at_b)}) port->protocol = protocol_of(c, i);
    at_a.ring = make_ring(c, a);
    at_b.ring = make_ring(c, b);
    lead(at_a, a, b);
    lead(at_b, b, a);
  }

  std::vector<std::vector<QueuePort>> take_ports() {
    std::vector<std::vector<QueuePort>> all;
    for (auto& of_pe : ports_) {
      all.emplace_back(std::make_move_iterator(of_pe.begin()), std::make_move_iterator(of_pe.end()));
      of_pe.clear();
    }
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const { throw InputError(where_ + text); }
  Pe& pe(size_t launched) const { return machine_.pes().pe(pes_[launched]); }

  size_t launched(int64_t i) const {
    if (i >= 0 && i < static_cast<int64_t>(pes_.size())) return static_cast<size_t>(i);
    refuse("found PE " + std::to_string(i) + ", expected one of the launch's, 0 to " + std::to_string(pes_.size() - 1));
  }

  void check_geometry(const QueueConnection& c) const {
    try {
      QueueParameters p;
      if (c.slots) p.slots = *c.slots;
      if (c.slot_bytes) p.slot_bytes = *c.slot_bytes;
      if (c.tier) p.tier = *c.tier;
      checked(p);
    } catch (const std::invalid_argument& e) {
      refuse(e.what());
    }
  }

  std::string protocol_of(const QueueConnection& c, size_t i) const {
    const std::vector<std::string> names = pe(i).ipcq->queue_parameters().protocols();
    if (!c.protocol || std::find(names.begin(), names.end(), *c.protocol) != names.end())
      return c.protocol.value_or("");
    refuse("protocol: found '" + *c.protocol + "', expected one of " + pe(i).id + ": " +
           (names.empty() ? "it declares none" : joined(names)));
  }

  void require_blocks(size_t i) const {
    const Pe& p = pe(i);
    if (!p.cpu || !p.ipcq) refuse(p.id + " has no " + (p.cpu ? "pe_ipcq" : "pe_cpu") + ", which a port needs");
  }

  QueuePort& add_port(size_t i, const std::string& name) {
    if (name.empty()) refuse("a port of " + pe(i).id + " has no name");
    if (!names_[i].insert(name).second) refuse("port " + name + " of " + pe(i).id + " has a connection already");
    QueuePort& port = ports_[i].emplace_back();
    port.name = name;
    return port;
  }

  QueueRing make_ring(const QueueConnection& c, size_t i) {
    QueueRing ring = ring_at(pe(i), {c.slots, c.slot_bytes, c.tier});
    try {
      ring.addr = places_.place(pes_[i], ring.space, ring.slots * ring.slot_bytes);
      price_ring(pe(i), machine_.routes(), &ring);
    } catch (const std::runtime_error& e) {
      refuse(e.what());
    }
    return ring;
  }

  /// Connects the newest port of one PE to that of another.
  void lead(QueuePort& port, size_t from, size_t to) {
    try {
      port.lead(pe(from), pe(to), ports_[to].back(), static_cast<uint32_t>(ports_[to].size() - 1), machine_.routes());
    } catch (const AccessError& e) {
      refuse("no way between " + pe(from).id + " and " + pe(to).id + ": " + e.what());
    }
  }

  Machine& machine_;
  const std::vector<size_t>& pes_;
  RingPlaces& places_;
  const std::string what_;
  std::string where_;
  std::vector<std::deque<QueuePort>> ports_;            ///< by PE of the launch
  std::vector<std::unordered_set<std::string>> names_;  ///< of these ports
};

}  // namespace

QueueRing ring_at(const Pe& pe, const RingChoice& choice) {
  const QueueParameters& p = pe.ipcq->queue_parameters();
  QueueRing ring;
  ring.slots = choice.slots.value_or(p.slots);
  ring.slot_bytes = choice.slot_bytes.value_or(p.slot_bytes);
  ring.space = parse_space(choice.tier.value_or(p.tier));
  return ring;
}

size_t nearest_memory(Machine& machine, size_t pe, Space space) {
  const topology::Graph& graph = machine.graph();
  topology::PathRouter& paths = machine.routes().paths();
  const uint32_t dma = machine.pes().pe(pe).dma;
  size_t best = graph.memories.size();
  std::pair<int64_t, size_t> least;
  for (size_t m = 0; m < graph.memories.size(); ++m) {
    const topology::Memory& memory = graph.memories[m];
    if (memory.space != name_of(space) || !paths.has_path(dma, memory.node)) continue;
    const std::pair<int64_t, size_t> cost = {paths.distance_nm(dma, memory.node),
                                             paths.find_path(dma, memory.node).size()};
    if (best < graph.memories.size() && !(cost < least)) continue;
    best = m;
    least = cost;
  }
  return best;
}

uint64_t RingsAlone::place(size_t pe, Space space, uint64_t nbytes) {
  const Pe& at = machine_.pes().pe(pe);
  const topology::Graph& graph = machine_.graph();
  uint64_t base = 0, size = 0, *used = nullptr;
  if (space == Space::tcm) {
    tcm_used_.resize(machine_.pes().count());
    size = at.tcm ? at.tcm->allocatable_bytes() : 0;
    used = &tcm_used_[pe];
    if (!at.tcm) throw InputError(at.id + " has no pe_tcm, where its rings of tier tcm would lie");
  } else {
    const size_t m = nearest_memory(machine_, pe, space);
    if (m == graph.memories.size())
      throw InputError(at.id + " reaches no " + std::string(name_of(space)) + ", where its rings would lie");
    memory_used_.resize(graph.memories.size());
    base = graph.memories[m].base;
    size = graph.memories[m].size;
    used = &memory_used_[m];
  }
  if (nbytes > size - *used) {
    throw InputError("no room for a ring of " + at.id + " in " + std::string(name_of(space)) + ": " +
                     std::to_string(nbytes) + " bytes asked, " + std::to_string(size - *used) + " bytes free");
  }
  const uint64_t addr = base + *used;
  *used += nbytes;
  return addr;
}

std::vector<std::vector<QueuePort>> connect_queues(Machine& machine, const std::vector<QueueConnection>& connections,
                                                   const std::vector<size_t>& pes, RingPlaces& places,
                                                   const std::string& what) {
  Connecting connecting(machine, pes, places, what);
  connecting.find_ways(connections);
  for (size_t i = 0; i < connections.size(); ++i) connecting.connect(connections[i], i);
  return connecting.take_ports();
}

}  // namespace kernbench::launch
