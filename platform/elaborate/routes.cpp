// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/routes.h"

#include <algorithm>
#include <stdexcept>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/platform/elaborate/sole_senders.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::elaborate {

Routes::Routes(const topology::Graph& graph, const Elaboration& blocks, const Fabric& fabric)
    : graph_(graph),
      blocks_(blocks),
      fabric_(fabric),
      paths_(std::make_unique<topology::PathRouter>(graph)),
      last_(graph.nodes.size()) {
  SoleSenders(graph_, blocks_, fabric_.mode()).from_edges();
}

Routes::~Routes() = default;

const Route& Routes::route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) {
  const Route* last = last_[initiator];
  if (last && address - last->base < last->size && nbytes <= last->size - (address - last->base)) return *last;
  const topology::Memory* memory = graph_.memory_at(address);
  if (!memory || nbytes > memory->size || address - memory->base > memory->size - nbytes) {
    throw AccessError(graph_.nodes[initiator].id + ": " + (write ? "write to " : "read of ") + address_text(address) +
                      ", " + std::to_string(nbytes) + " bytes: " +
                      (memory ? "leaves " + graph_.nodes[memory->node].id + " [" + address_text(memory->base) + ", " +
                                    address_text(memory->base + memory->size) + ")"
                              : std::string("no memory is there")));
  }
  const uint32_t index = static_cast<uint32_t>(memory - graph_.memories.data());
  std::unique_ptr<Route>& r = routes_[uint64_t{initiator} << 32 | index];
  if (!r && closed_) {
    throw std::logic_error(graph_.nodes[initiator].id + ": a route to " + graph_.nodes[memory->node].id +
                           " is asked for after the last");
  }
  if (!r) r = make_route(initiator, index);
  if (!r->returns && (!write || fabric_.responses_travel())) require_way_back(initiator, *memory);
  if (r->returns) last_[initiator] = r.get();
  return *r;
}

/// AccessError with the edge that has no reverse edge.
void Routes::require_way_back(uint32_t initiator, const topology::Memory& memory) {
  try {
    paths_->way_back(paths_->find_path(initiator, memory.node));
  } catch (const topology::RouteError& e) {
    throw AccessError(graph_.nodes[initiator].id + ": no way back from " + graph_.nodes[memory.node].id + ": " +
                      e.what());
  }
}

std::unique_ptr<Route> Routes::make_route(uint32_t initiator, uint32_t memory) {
  const topology::Memory& m = graph_.memories[memory];
  std::vector<uint32_t> path;
  try {
    path = paths_->find_path(initiator, m.node);
  } catch (const topology::RouteError& e) {
    throw AccessError(e.what());
  }
  auto r = std::make_unique<Route>();
  r->target = static_cast<MemoryTarget*>(&blocks_.component(m.node));
  r->base = m.base;
  r->size = m.size;
  r->hops = blocks_.hops(path, "memory traffic");
  try {
    const std::vector<uint32_t> back = paths_->way_back(path);
    r->returns = true;
    if (fabric_.responses_travel() && paths_->by_rule(path)) r->own_back = blocks_.hops_back(back);
  } catch (const topology::RouteError&) {
  }
  measure(*r);
  if (!r->known && !r->own_back.empty()) {
    throw AccessError(graph_.nodes[initiator].id + ": the way to " + graph_.nodes[m.node].id +
                      " leads through a network with routing of its own and a foreign block, which answers by the way "
                      "that it was asked");
  }
  return r;
}

const Route& Routes::message_route(uint32_t from, uint32_t to) {
  return message_way(from, to, false);
}

const Route& Routes::reversed_message_route(uint32_t from, uint32_t to) {
  return message_way(from, to, true);
}

const Route& Routes::message_way(uint32_t from, uint32_t to, bool reversed) {
  std::unique_ptr<Route>& kept = (reversed ? reversed_ : messages_)[uint64_t{from} << 32 | to];
  if (kept) return *kept;
  if (closed_) {
    throw std::logic_error(graph_.nodes[from].id + " -> " + graph_.nodes[to].id +
                           ": a way of messages is asked for after the last");
  }
  kept = std::make_unique<Route>(find_way(from, to, reversed));
  return *kept;
}

Route Routes::find_way(uint32_t from, uint32_t to, bool reversed) {
  std::vector<uint32_t> path;
  try {
    path = paths_->find_path(from, to);
    if (reversed) path = paths_->way_back(path);
  } catch (const topology::RouteError& e) {
    throw AccessError(e.what());
  }
  Route r;
  r.hops = blocks_.hops(path, "messages");
  measure(r);
  return r;
}

void Routes::close() {
  SoleSenders senders(graph_, blocks_, fabric_.mode());
  if (!senders.known()) return;  // user-defined routers may request others
  closed_ = true;
  for (const auto& [key, route] : routes_) senders.add(blocks_.component(static_cast<uint32_t>(key >> 32)), *route);
  for (const auto& [key, route] : messages_)
    senders.add_messages(blocks_.component(static_cast<uint32_t>(key >> 32)), *route);
  for (const auto& [key, route] : reversed_)
    senders.add_messages(blocks_.component(static_cast<uint32_t>(key)), *route);
  senders.from_routes();
}

}  // namespace kernbench::elaborate
