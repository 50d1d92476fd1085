// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/queue_ports.h"

#include <limits>

#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench::pe {

namespace {

/// The path between a pe_dma and a memory, without its ends and without store-and-forward (§10.5).
SlotCost hop_cost(const Route& r, bool write) {
  SlotCost cost;
  const Path path = r.path(!write);
  for (uint32_t i = 0; i < path.size(); ++i) {
    const PathHop hop = path.at_node(i);
    if (hop.number > 0) cost.hop_ns += hop.cost({write, !write, 0, 0}).overhead_ns;
    cost.hop_ns += hop.link->wire_ns;
  }
  cost.hop_bw_gbs = write ? r.write_bw : r.read_bw;
  return cost;
}

}  // namespace

void price_ring(const Pe& at, RouteSource& routes, QueueRing* ring) {
  if (ring->space == Space::tcm) {
    ring->pe = at.index;
  } else {
    const Route& r = routes.route(at.dma, ring->addr, 1, false);
    ring->write = hop_cost(r, true);
    ring->read = hop_cost(r, false);
  }
  at.ipcq->queue_parameters().price(ring, std::string(name_of(ring->space)));
}

void QueuePort::lead(const Pe& from, const Pe& to, const QueuePort& peer, uint32_t place_of_peer, RouteSource& routes) {
  peer_pe = to.id;
  peer_port_name = peer.name;
  peer_index = to.index;
  peer_port = place_of_peer;
  peer_dma = to.dma;
  peer_ring = peer.ring;
  route = &routes.message_route(from.dma, to.dma);
  credit_route = &routes.reversed_message_route(to.dma, from.dma);
}

std::optional<AttrFault> QueueParameters::fault_together() const {
  bool any_size = protocol_message_ns.empty();
  for (const auto& [name, ns] : protocol_message_ns)
    any_size = any_size || protocol_up_to_bytes.find(name) == protocol_up_to_bytes.end();
  if (!any_size) return AttrFault{"protocol_up_to_bytes", "found a limit of every protocol; legal: one without"};
  for (const auto& [attribute, values] :
       {std::pair("protocol_start_ns", &protocol_start_ns), std::pair("protocol_bw_gbs", &protocol_bw_gbs),
        std::pair("protocol_up_to_bytes", &protocol_up_to_bytes)}) {
    for (const auto& [name, value] : *values) {
      if (protocol_message_ns.count(name) == 0)
        return AttrFault{attribute, "found '" + name + "'; legal: a protocol of protocol_message_ns"};
    }
  }
  return std::nullopt;
}

std::vector<std::string> QueueParameters::protocols() const {
  std::vector<std::string> names;
  for (const auto& [name, ns] : protocol_message_ns) names.push_back(name);
  return names;
}

Protocol QueueParameters::protocol(const std::string& name, uint64_t nbytes) const {
  const auto value = [](const NumberMap& of, const std::string& key, double otherwise) {
    const auto it = of.find(key);
    return it != of.end() ? it->second : otherwise;
  };
  std::string taken = name;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [candidate, ns] : protocol_message_ns) {
    const double limit = value(protocol_up_to_bytes, candidate, std::numeric_limits<double>::max());
    if (!name.empty() || limit == 0 || limit < static_cast<double>(nbytes) || limit >= least) continue;
    taken = candidate;
    least = limit;
  }
  return {value(protocol_start_ns, taken, 0), value(protocol_message_ns, taken, 0), value(protocol_bw_gbs, taken, 0)};
}

std::string fault_of_send_all(const std::vector<QueuePort>& all, const std::vector<uint32_t>& ports) {
  for (size_t i = 0; i < ports.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const QueuePort &a = all.at(ports[j]), &b = all.at(ports[i]);
      if (a.peer_index == b.peer_index)
        return "send_all: the ports " + a.name + " and " + b.name + " lead to one PE, " + a.peer_pe +
               "; expected different ones";
    }
  }
  return {};
}

}  // namespace kernbench::pe
