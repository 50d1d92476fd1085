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
    y.overhead_ns = x.overhead_ns;
    y.wire_ns = x.wire_ns;
    y.store_forward_ns = x.store_forward_ns;
    y.link_queue_ns = x.link_queue_ns;
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
  const auto key = [](const Joined& a) { return std::make_pair(Timeline::to_fs(a.arrival_ns), a.from->edge); };
  Joined now;
  now.absorbed = arrives.x;
  if (!j.last.x || key(j.last) < key(arrives)) {
    now.absorbed = j.last.x;
    j.last = arrives;
  }
  if (now.absorbed) --open_;
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
  const FabricTransaction& s = *slowest_;
  x.overhead_ns = s.overhead_ns;
  x.wire_ns = s.wire_ns;
  x.drain_ns = s.drain_ns;
  x.store_forward_ns = s.store_forward_ns;
  x.link_queue_ns = s.link_queue_ns;
  x.memory_queue_ns = s.memory_queue_ns;
  x.own_service_ns = s.own_service_ns;
  x.done_ns = s.done_ns;
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
    if (!r.target || (!r.known && to.addresses.size() > 1))
      throw AccessError(address_text(address) + ": a multicast past a foreign block is unsupported");
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
  if (fabric.timing().finite_buffers) check_forks(fabric, routes, to.addresses.front(), nbytes);
}

}  // namespace kernbench::fabric
