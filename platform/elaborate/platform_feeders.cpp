// Who alone puts messages on a link or sends requests to a memory: what lets the fabric decide order ahead of time
// (Link::feeder, docs/performance.md).
#include <unordered_map>
#include <vector>

#include "kernbench/platform/elaborate/platform.h"
#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {
namespace {

/// Keeps who feeds something as long as it is one alone.
class SoleFeeder {
 public:
  void add(const void* feeder) {
    several_ |= feeder_ && feeder_ != feeder;
    feeder_ = feeder;
  }
  const void* get() const { return several_ ? nullptr : feeder_; }

 private:
  const void* feeder_ = nullptr;
  bool several_ = false;
};

}  // namespace

/// From the edges alone, for routes that are not known yet: a message leaves a node by no edge back to where it came
/// from, and who is not between others is the only one to use the edges that leave it.
void Platform::find_feeders() {
  std::vector<std::vector<uint32_t>> in_edges(graph_.nodes.size());
  for (uint32_t e = 0; e < ports_.size(); ++e) {
    if (ports_[e].link) in_edges[graph_.edges[e].to].push_back(e);
  }
  for (uint32_t e = 0; e < ports_.size(); ++e) {
    if (!ports_[e].link) continue;
    const topology::Edge& edge = graph_.edges[e];
    Component* from = components_[edge.from].get();
    const bool between = from->fabric_in() && from->fabric_out();
    SoleFeeder feeder;
    if (!between || request_ports_[edge.from]) feeder.add(from);
    for (uint32_t in : in_edges[edge.from]) {
      if (between && graph_.edges[in].from != edge.to) feeder.add(ports_[in].link);
    }
    set_feeder(e, fabric_.direct ? feeder.get() : nullptr);
  }
  for (const topology::Memory& m : graph_.memories) {
    SoleFeeder feeder;
    for (uint32_t in : in_edges[m.node]) feeder.add(ports_[in].link);
    static_cast<MemoryTarget&>(*components_[m.node])
        .set_feeder(fabric_.direct && fabric_.links != LinkMode::ideal ? feeder.get() : nullptr);
  }
  find_whole_trains();
}

/// Behind a node that stores and forwards, messages without data overtake the others.
void Platform::set_feeder(size_t edge, const void* feeder) {
  const Component* from = components_[graph_.edges[edge].from].get();
  ports_[edge].link->feeder = from->stores_and_forwards() && feeder != from ? nullptr : feeder;
}

void Platform::close_routes() {
  routes_closed_ = true;
  if (!fabric_.direct) return;
  std::vector<SoleFeeder> links(ports_.size());
  std::unordered_map<MemoryTarget*, SoleFeeder> memories;
  for (const auto& [key, route] : routes_) {
    const Component* initiator = components_[key >> 32].get();
    const void* before = initiator;
    for (const Route::Hop& hop : route->hops) {
      links[hop.fwd->edge].add(before);
      before = hop.fwd;
    }
    memories[route->target].add(fabric_.links == LinkMode::ideal ? static_cast<const void*>(initiator) : before);
    if (!route->returns) continue;
    before = static_cast<const Component*>(route->target);
    for (size_t i = route->hops.size(); i-- > 0;) {
      links[route->hops[i].back->edge].add(before);
      before = route->hops[i].back;
    }
  }
  for (size_t e = 0; e < links.size(); ++e) {
    if (ports_[e].link) set_feeder(e, links[e].get());
  }
  for (auto& [memory, feeder] : memories) memory->set_feeder(feeder.get());
  find_whole_trains();
}

void Platform::walk_sockets() {
  fabric_.direct = false;
  find_feeders();
}

/// An initiator sends a message's flits one behind the other, and so do memories that answer in order; they stay so
/// as long as nothing else feeds the links.
void Platform::find_whole_trains() {
  if (fabric_.links != LinkMode::flit) return;
  std::unordered_map<const void*, const Link*> links;
  for (const EdgePorts& p : ports_) {
    if (!p.link) continue;
    p.link->whole_trains = false;
    links.emplace(p.link, p.link);
  }
  for (const EdgePorts& p : ports_) {
    if (!p.link) continue;
    // Up to the one at the beginning of the chain.
    const Link* first = p.link;
    bool whole = true;
    for (size_t steps = 0; whole && links.count(first->feeder); ++steps) {
      whole = steps < ports_.size();
      first = links.at(first->feeder);
    }
    if (!whole || !first->feeder) continue;
    const auto* memory = dynamic_cast<const MemoryTarget*>(components_[graph_.edges[first->edge].from].get());
    p.link->whole_trains = !memory || memory->answers_in_order();
  }
}

}  // namespace kernbench
