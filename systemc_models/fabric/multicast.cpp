// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/multicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <set>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/fabric/wormhole_links.h"

namespace kernbench::fabric {
namespace {

void take_breakdown(FabricTransaction& to, const FabricTransaction& from) {
  to.overhead_ns = from.overhead_ns;
  to.wire_ns = from.wire_ns;
  to.drain_ns = from.drain_ns;
  to.store_forward_ns = from.store_forward_ns;
  to.link_queue_ns = from.link_queue_ns;
  to.memory_queue_ns = from.memory_queue_ns;
  to.own_service_ns = from.own_service_ns;
  to.outside_ns = from.outside_ns;
}

}  // namespace

void Multicast::add(FabricTransaction& x) {
  members_.push_back({&x, 0});
  ++open_;
}

std::vector<FabricTransaction*> Multicast::fork(FabricTransaction& x) {
  std::vector<FabricTransaction*> others;
  std::vector<size_t> carriers;
  const uint32_t node = x.node;
  const size_t me = static_cast<size_t>(
      std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.x == &x; }) - members_.begin());
  const FabricPort* mine = x.hops[node].out;
  for (size_t i = me + 1; i < members_.size(); ++i) {
    Member& m = members_[i];
    if (m.carrier != me) continue;
    const FabricPort* out = m.x->hops[node].out;
    if (out == mine) continue;
    const auto same =
        std::find_if(carriers.begin(), carriers.end(), [&](size_t c) { return members_[c].x->hops[node].out == out; });
    m.carrier = same == carriers.end() ? i : *same;
    if (m.carrier != i) continue;
    FabricTransaction& y = *m.x;
    y.node = node;
    y.time_ns = x.time_ns;
    y.went_outside = x.went_outside;
    take_breakdown(y, x);
    y.carries_from[false] = node;
    if (combined_) y.carries_from[true] = node;
    carriers.push_back(i);
    others.push_back(&y);
    branches_.push_back({&x, node, &y});
    node > 0 ? ++joins_[&x.hops[node].out->node()].branches : ++first_edges_;
    if (const FabricObservers& o = x.initiator->node().observers()) o->branched(x, y, 0);
  }
  return others;
}

size_t Multicast::left_to_block(const FabricTransaction& x, const FabricPort* port) {
  size_t left = 0;
  for (Member& m : members_) {
    FabricTransaction& y = *m.x;
    if (m.carrier == kBlock || members_[m.carrier].x != &x || &y == &x || (port && y.hops[x.node - 1].in == port))
      continue;
    m.carrier = kBlock;
    y.carries_from[false] = y.carries_from[true] = ~0u;
    if (y.mover) y.mover->moved_outside(y);
    absorb(y);
    ++left;
  }
  return left;
}

void Multicast::absorb(const FabricTransaction& x) {
  --open_;
  for (Gathering& g : gatherings_) g.outstanding -= std::count(g.members.begin(), g.members.end(), &x);
}

void Multicast::came_in(FabricTransaction& x, const FabricPort& port) {
  Gathering g = {&port, &x, {}, 0};
  for_each_carried(x, [&](const FabricTransaction& m) { g.members.push_back(&m); });
  g.outstanding = g.members.size();
  gatherings_.push_back(std::move(g));
}

FabricTransaction* Multicast::gather(FabricTransaction& x, const FabricPort& port) {
  const auto g =
      std::find_if(gatherings_.begin(), gatherings_.end(), [&](const Gathering& each) { return each.port == &port; });
  if (g == gatherings_.end()) return &x;
  FabricTransaction& whole = *g->x;
  if (&x != &whole && x.payload.is_response_error()) whole.payload.set_response_status(x.payload.get_response_status());
  if (g->outstanding > 1) {
    absorb(x);
    return nullptr;
  }
  if (&x == &whole) return &x;
  whole.node = x.node;
  whole.time_ns = x.time_ns;
  whole.tail_ns = x.tail_ns;
  whole.covered_ns = x.covered_ns;
  whole.queued_there_ns = x.queued_there_ns;
  take_breakdown(whole, x);
  return &whole;
}

std::vector<FabricTransaction*> Multicast::branches(const FabricTransaction& x, uint32_t node) const {
  std::vector<FabricTransaction*> found;
  for (const Branch& b : branches_) {
    if (b.from == &x && b.node == node) found.push_back(b.to);
  }
  return found;
}

bool Multicast::joins(uint32_t number, const FabricNode& node) const {
  return combined_ && number > 0 && joins_.count(&node) > 0;
}

Multicast::Joined Multicast::join(const FabricNode& node, const Joined& arrives) {
  Join& j = joins_.at(&node);
  const auto key = [](const Joined& a) {
    return std::make_pair(Timeline::to_fs(a.arrival_ns), a.from ? a.from->edge + 1 : 0);
  };
  Joined now;
  now.absorbed = arrives.x;
  if (!j.last.x || key(j.last) < key(arrives)) {
    now.absorbed = j.last.x;
    j.last = arrives;
  }
  if (now.absorbed) absorb(*now.absorbed);
  if (++j.arrived == j.branches) {
    FabricTransaction* absorbed = now.absorbed;
    now = j.last;
    now.absorbed = absorbed;
  }
  return now;
}

bool Multicast::has_left(double* free_ns) {
  free_ns_ = std::max(free_ns_, *free_ns);
  *free_ns = free_ns_;
  return ++left_ == first_edges_;
}

bool Multicast::ends(FabricTransaction& x) {
  if (!slowest_ || slowest_->done_ns < x.done_ns) slowest_ = &x;
  return --open_ == 0;
}

double Multicast::done_ns() const {
  return slowest_->done_ns;
}

void Multicast::complete_account() {
  fabric_.mode().complete_account(*slowest_);
  FabricTransaction& x = first();
  take_breakdown(x, *slowest_);
  x.done_ns = slowest_->done_ns;
  for_each([&](const FabricTransaction& m) { x.went_outside |= m.went_outside; });
}

void Multicast::release_others() {
  for (size_t i = 1; i < members_.size(); ++i) members_[i].x->payload.release();
}

namespace {

/// An acknowledgement in an idle system that is ready to take the link back from node `node`.
struct Acknowledgement {
  uint64_t fs;
  size_t destination;
  uint32_t node;
  double ready_ns;
  const Route* route;
  bool operator<(const Acknowledgement& o) const {  // for a priority queue: the greatest is the last to leave
    return fs != o.fs ? fs > o.fs : destination > o.destination;
  }
};

}  // namespace

/// The branches do not meet on the path there. The acknowledgements may meet on the path back.
double Multicast::formula_ns(Fabric& fabric, uint32_t initiator, const MulticastTo& to, uint64_t nbytes,
                             const Rows& rows) {
  const LinkMode& mode = fabric.mode();
  if (to.addresses.size() == 1) {
    const Route& r = fabric.routes().route(initiator, to.addresses.front(), nbytes, true);
    return mode.formula_ns(r, true, to.addresses.front(), nbytes, rows);
  }
  Rows posted = rows;
  posted.posted = true;
  std::priority_queue<Acknowledgement> waiting;
  std::map<const FabricNode*, std::set<const FabricPort*>> edges;
  std::map<const FabricNode*, std::pair<size_t, Acknowledgement>> joins;
  std::map<const FabricNode*, uint32_t> last_edge;
  std::map<const Link*, double> free_ns;
  double latest = 0;
  for (size_t d = 0; d < to.addresses.size(); ++d) {
    const Route& r = fabric.routes().route(initiator, to.addresses[d], nbytes, true);
    const double finish = mode.zero_load(r, true, to.addresses[d], nbytes, posted).latency_ns;
    latest = std::max(latest, finish);
    for (const Hop& h : r.hops) edges[&h.out->node()].insert(h.out);
    waiting.push({Timeline::to_fs(finish), d, static_cast<uint32_t>(r.way_back().size()), finish, &r});
  }
  if (!fabric.responses_travel()) return latest;
  latest = 0;
  while (!waiting.empty()) {
    Acknowledgement a = waiting.top();
    waiting.pop();
    const PathHop hop = a.route->path(true).at_node(a.node - 1);
    Link idle;
    idle.set({hop.link->wire_ns, hop.link->bw_gbs});
    double ready = a.ready_ns, arrival = ready + hop.link->wire_ns;
    if (mode.links_serve()) {
      double& free = free_ns[hop.link];
      const double start = std::max(ready, free);
      free = start + idle.transfer_ns(mode.bytes_on_link(0));
      arrival = (mode.data_follow_header() ? start : free) + hop.link->wire_ns;
    }
    const double leaves = arrival + hop.cost({true, true, to.addresses[a.destination], nbytes, rows}).ns();
    --a.node;
    a.ready_ns = leaves;
    a.fs = Timeline::to_fs(leaves);
    if (a.node == 0) {
      latest = std::max(latest, leaves);
      continue;
    }
    const size_t branches = edges.at(&hop.node()).size();
    if (to.combined && branches > 1) {
      auto& [come, last] = joins[&hop.node()];
      if (come == 0 || std::make_pair(last.fs, last_edge[&hop.node()]) < std::make_pair(a.fs, hop.link->edge)) {
        last = a;
        last_edge[&hop.node()] = hop.link->edge;
      }
      if (++come < branches) continue;
      a = last;
    }
    waiting.push(a);
  }
  return latest;
}

void check_multicast(Fabric& fabric, uint32_t initiator, const MulticastTo& to, uint64_t nbytes) {
  std::vector<const Route*> routes;
  std::map<const FabricNode*, std::pair<const FabricPort*, const Route*>> came_by;
  for (const uint64_t address : to.addresses) {
    const Route& r = fabric.routes().route(initiator, address, nbytes, true);
    if (!r.target)
      throw AccessError(address_text(address) + ": a multicast to a foreign memory without an adapter is unsupported");
    if (std::any_of(routes.begin(), routes.end(), [&](const Route* o) { return o->target == r.target; }))
      throw AccessError(address_text(address) + ": a second destination in " + r.target->id() +
                        "; expected one destination a memory");
    if (fabric.timing().links.spec().cuts_data && (address - to.addresses.front()) % fabric.timing().flit_bytes != 0)
      throw AccessError(fmt::format("{}: found a destination that is not equal to the first one modulo flit_bytes ({})",
                                    address_text(address), fabric.timing().flit_bytes));
    for (const Hop& h : r.hops) {
      const auto [at, added] = came_by.emplace(&h.in->node(), std::make_pair(h.out, &r));
      if (!added && at->second.first != h.out)
        throw AccessError(fmt::format("the routes to {} and {} part and meet again at {}; expected a tree",
                                      at->second.second->target->id(), r.target->id(), h.in->node().owner().id()));
    }
    if (to.combined && !r.own_back.empty() && to.addresses.size() > 1) {
      for (size_t i = 0; i < r.hops.size(); ++i) {
        if (r.own_back.size() == r.hops.size() && r.own_back[i].out == r.hops[i].out) continue;
        throw AccessError(
            fmt::format("combined acknowledgements: the way back from {} to {} does not mirror the way "
                        "there",
                        r.target->id(), r.hops.front().out->node().owner().id()));
      }
    }
    routes.push_back(&r);
  }
  check_foreign_forks(routes, [](const ForeignNeighbour& block) { return block.multicasts(); });
  if (fabric.timing().finite_buffers) check_forks(fabric, routes, to.addresses.front(), nbytes);
}

void check_foreign_forks(const std::vector<const Route*>& routes, bool (*knows)(const ForeignNeighbour&)) {
  std::map<const FabricPort*, const FabricPort*> enters_by;  // behind the block, by the port before it
  for (const Route* r : routes) {
    for (const Hop& h : r->hops) {
      const ForeignNeighbour* block = h.out->foreign();
      if (block && enters_by.emplace(h.out, h.in).first->second != h.in && !knows(*block))
        throw AccessError("the routes part in the foreign block " + block->name() +
                          "; expected its attribute multicast: true, and not a message between PEs");
    }
  }
}

}  // namespace kernbench::fabric
