// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/sole_senders.h"

#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::elaborate {
SoleSenders::SoleSenders(const topology::Graph& graph, const Elaboration& blocks, const LinkMode& mode)
    : graph_(graph), blocks_(blocks), mode_(mode), links_(graph.edges.size()) {
  known_ = !blocks.has_foreign_nodes();
  routers_.reserve(graph.nodes.size());
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const auto* router = dynamic_cast<const Router*>(&blocks.component(n));
    routers_.push_back(router);
    if (router && router->own_rules()) known_ = false;
  }
}

void SoleSenders::from_edges() {
  std::vector<std::vector<uint32_t>> in_edges(graph_.nodes.size());
  for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
    if (blocks_.link(e)) in_edges[graph_.edges[e].to].push_back(e);
  }
  for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
    if (!blocks_.link(e)) continue;
    const topology::Edge& edge = graph_.edges[e];
    const bool between = routers_[edge.from] != nullptr;
    SoleSender sender;
    if (!between || blocks_.request_port(edge.from)) sender.add(&blocks_.component(edge.from));
    for (const uint32_t in : in_edges[edge.from]) {
      if (between && graph_.edges[in].from != edge.to) sender.add(blocks_.link(in));
    }
    set(e, sender.get());
  }
  for (const topology::Memory& m : graph_.memories) {
    SoleSender sender;
    for (const uint32_t in : in_edges[m.node]) sender.add(blocks_.link(in));
    const bool alone = known_ && !mode_.initiators_send_to_memories();
    static_cast<MemoryTarget&>(blocks_.component(m.node)).set_sole_sender(alone ? sender.get() : nullptr);
  }
  tell_mode();
}

/// Returns the last link.
const void* SoleSenders::add_path(const void* source, const Path& path) {
  const void* before = source;
  for (const PathHop& hop : path) {
    links_[hop.link->edge].add(before);
    before = hop.link;
  }
  return before;
}

void SoleSenders::add_messages(const Component& initiator, const Route& route) {
  add_path(&initiator, route.path(false));
}

void SoleSenders::add(const Component& initiator, const Route& route) {
  const void* last = add_path(&initiator, route.path(false));
  memories_[route.target].add(mode_.initiators_send_to_memories() ? static_cast<const void*>(&initiator) : last);
  if (route.returns) add_path(static_cast<const Component*>(route.target), route.path(true));
}

void SoleSenders::from_routes() {
  for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
    if (blocks_.link(e)) set(e, links_[e].get());
  }
  for (auto& [memory, sender] : memories_) memory->set_sole_sender(sender.get());
  tell_mode();
}

/// After a store-and-forward node, dataless messages overtake data messages. After a node that adds messages of
/// reductions, other messages overtake those that wait for a sum.
void SoleSenders::set(uint32_t edge, const void* sender) {
  const Component& from = blocks_.component(graph_.edges[edge].from);
  const Router* router = routers_[graph_.edges[edge].from];
  const bool overtaken = router && ((router->stores_and_forwards() && sender != &from) || router->reduce_rules());
  blocks_.link(edge)->sole_sender = known_ && !overtaken ? sender : nullptr;
}

void SoleSenders::tell_mode() const {
  std::vector<Link*> links;
  for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
    if (Link* link = blocks_.link(e)) links.push_back(link);
  }
  mode_.senders_known(links);
}

}  // namespace kernbench::elaborate
