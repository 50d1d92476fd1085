// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/path.h"

namespace kernbench::fabric {

bool ReduceRules::adds(std::optional<DType> dtype) const {
  return !dtype || dtypes.empty() || std::find(dtypes.begin(), dtypes.end(), *dtype) != dtypes.end();
}

Reduction::Reduction(Fabric& fabric, const std::vector<uint32_t>& initiators, uint64_t address, uint64_t nbytes,
                     std::optional<DType> dtype)
    : dtype_(dtype) {
  std::set<uint32_t> seen;
  for (size_t i = 0; i < initiators.size(); ++i) {
    Source& s = sources_.emplace_back();
    s.initiator = initiators[i];
    s.route = &fabric.routes().route(s.initiator, address, nbytes, false);
    s.stands_for = {i};
    if (!s.route->target || (!s.route->known && initiators.size() > 1))
      throw AccessError(address_text(address) + ": a reduction past a foreign block is unsupported");
    if (!seen.insert(s.initiator).second)
      throw AccessError(fmt::format("a reduction has two sources of {}; expected different initiators",
                                    s.route->hops.front().out->node().owner().id()));
  }
  check_tree();
  count_messages();
}

/// Each node leads towards the memory by one edge, and no source stands inside another's route.
void Reduction::check_tree() const {
  std::map<const FabricNode*, std::pair<const FabricPort*, const Route*>> leaves;
  for (const Source& s : sources_) {
    const Route& r = *s.route;
    const std::string id = r.hops.front().out->node().owner().id();
    for (const Hop& h : r.hops) {
      const auto [at, added] = leaves.emplace(&h.out->node(), std::make_pair(h.out, &r));
      if (!added && at->second.first != h.out)
        throw AccessError(fmt::format("the routes of {} and {} to {} part at {}; expected a tree", id,
                                      at->second.second->hops.front().out->node().owner().id(), r.target->id(),
                                      h.out->node().owner().id()));
    }
    for (size_t i = 0; sources_.size() > 1 && !r.own_back.empty() && i < r.hops.size(); ++i) {
      if (r.own_back.size() != r.hops.size() || r.own_back[i].out != r.hops[i].out)
        throw AccessError(
            fmt::format("the return path from {} to {} does not mirror the path there", r.target->id(), id));
    }
  }
  std::set<const FabricNode*> begins;
  for (const Source& s : sources_) begins.insert(&s.route->hops.front().out->node());
  for (const Source& s : sources_) {
    for (size_t h = 1; h < s.route->hops.size(); ++h) {
      const FabricNode& node = s.route->hops[h].out->node();
      if (begins.count(&node) > 0)
        throw AccessError(node.owner().id() + " lies on the route of another source of its reduction");
    }
  }
}

namespace {

/// A message on its way: the edge by which it comes, its first source, and the order of its additions.
struct Coming {
  uint32_t edge = 0;
  size_t first = 0;
  std::vector<int64_t> order;
};

/// The sum of messages at a node (§20.3).
Coming sum_of(std::vector<Coming> all) {
  const auto earlier = [](const Coming& a, const Coming& b) {
    return std::make_pair(a.edge, a.first) < std::make_pair(b.edge, b.first);
  };
  std::sort(all.begin(), all.end(), earlier);
  Coming sum = all.front();
  for (size_t i = 1; i < all.size(); ++i) {
    sum.first = std::min(sum.first, all[i].first);
    sum.order.insert(sum.order.end(), all[i].order.begin(), all[i].order.end());
    sum.order.push_back(OnTheWay::kAdd);
  }
  return sum;
}

}  // namespace

void Reduction::count_messages() {
  // From the leaves on: a node is counted after all nodes that lead to it.
  std::map<const FabricNode*, std::set<const FabricNode*>> before;
  std::map<const FabricNode*, std::pair<const FabricNode*, uint32_t>> next;  // the next node, and the edge to it
  std::map<const FabricNode*, std::vector<Coming>> coming;
  const FabricNode* memory = sources_.front().route->target;
  for (const Source& s : sources_) {
    for (size_t h = 0; h < s.route->hops.size(); ++h) {
      const FabricNode* node = &s.route->hops[h].out->node();
      const FabricNode* to = h + 1 < s.route->hops.size() ? &s.route->hops[h + 1].out->node() : memory;
      next[node] = {to, s.route->hops[h].out->link.edge};
      before[to].insert(node);
    }
  }
  std::vector<const FabricNode*> ready;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Route& route = *sources_[i].route;
    const FabricNode* node = route.hops.empty() ? memory : &route.hops.front().out->node();
    coming[node].push_back({0, i, {static_cast<int64_t>(i)}});
    ready.push_back(node);
  }
  while (!ready.empty()) {
    const FabricNode* node = ready.back();
    ready.pop_back();
    if (node == memory) continue;
    const bool leaf = before.count(node) == 0;
    const ReduceRules* rules = leaf ? nullptr : node->reduce_rules();
    Node& n = nodes_[node];
    std::vector<Coming>& here = coming.at(node);
    n.messages = here.size();
    if (rules && rules->adds(dtype_) && n.messages > 1) {
      n.rules = rules;
      here = {sum_of(here)};
    }
    const auto& [to, edge] = next.at(node);
    for (Coming& c : here) coming[to].push_back({edge, c.first, std::move(c.order)});
    std::set<const FabricNode*>& open = before.at(to);
    open.erase(node);
    if (open.empty()) ready.push_back(to);
  }
  std::vector<Coming>& at_memory = coming.at(memory);
  messages_left_ = at_memory.size();
  std::sort(at_memory.begin(), at_memory.end(), [](const Coming& a, const Coming& b) { return a.first < b.first; });
  for (const Coming& c : at_memory) value_order_.insert(value_order_.end(), c.order.begin(), c.order.end());
}

Reduction::Source& Reduction::source_of(const FabricTransaction& x) {
  return *std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) { return s.x == &x; });
}

void Reduction::join(FabricTransaction& x) {
  const uint32_t initiator = x.initiator->owner().index();
  std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) { return s.initiator == initiator; })->x = &x;
  x.reduction = this;
}

bool Reduction::begun() const {
  return std::any_of(sources_.begin(), sources_.end(), [](const Source& s) { return s.x != nullptr; });
}

std::string Reduction::missing() const {
  std::string ids;
  for (const Source& s : sources_) {
    if (!s.x) ids += (ids.empty() ? "" : ", ") + s.route->hops.front().out->node().owner().id();
  }
  return ids;
}

bool Reduction::meet_at(const FabricNode& node) const {
  const auto it = nodes_.find(&node);
  return it != nodes_.end() && it->second.rules;
}

const ReduceRules& Reduction::rules_at(const FabricNode& node) const {
  return *nodes_.at(&node).rules;
}

const std::vector<Reduction::Arrival>* Reduction::meet(const FabricNode& node, uint32_t number, const Arrival& a) {
  Node& n = nodes_.at(&node);
  std::vector<Arrival>& come = n.come[number];
  come.push_back(a);
  if (come.size() < n.messages) return nullptr;
  const auto earlier = [](const Arrival& l, const Arrival& r) {
    return std::make_pair(Timeline::to_fs(l.here_ns), l.from->edge) <
           std::make_pair(Timeline::to_fs(r.here_ns), r.from->edge);
  };
  std::stable_sort(come.begin(), come.end(), earlier);
  return &come;
}

FabricTransaction& Reduction::add_up(const FabricNode& node, const std::vector<Arrival>& come) {
  FabricTransaction*& sum = nodes_.at(&node).sum;
  const Arrival& latest = come.back();
  const auto tell = [&] {
    if (latest.x != sum && node.observers())
      node.observers()->joined(*latest.x, *sum, latest.flit ? latest.flit->index : 0);
  };
  if (sum) {
    tell();
    return *sum;
  }
  const double bw = rules_at(node).bw_gbs;
  Source* last = &source_of(*come.front().x);
  for (const Arrival& a : come) {
    Source& s = source_of(*a.x);
    if (last->x->own_order < s.x->own_order) last = &s;
  }
  double added = bw;
  for (const Arrival& a : come) {
    Source& s = source_of(*a.x);
    if (s.added_bw_gbs > 0) added = std::min(added, s.added_bw_gbs);
    if (&s == last) continue;
    last->stands_for.insert(last->stands_for.end(), s.stands_for.begin(), s.stands_for.end());
    s.x->carries_to[false] = s.x->node;
  }
  last->added_bw_gbs = added;
  last->x->route = &way_of_sum(*last);
  sum = last->x;
  tell();
  return *sum;
}

/// The route of a sum, for its memory: the lowest bandwidth of the routes of its sources (§20.2).
const Route& Reduction::way_of_sum(const Source& sum) {
  Route& way = ways_.emplace_back(*sum.route);
  way.worked.clear();
  const auto least = [&](double Route::*bw, double added) {
    double all = added;
    for (const size_t i : sum.stands_for) {
      const double own = sources_[i].route->*bw;
      if (own > 0) all = all > 0 ? std::min(all, own) : own;
    }
    way.*bw = all;
  };
  least(&Route::write_bw, sum.added_bw_gbs);
  least(&Route::write_inner_bw, sum.added_bw_gbs);
  least(&Route::read_bw, 0);
  least(&Route::read_inner_bw, 0);
  return way;
}

FabricTransaction* Reduction::served(FabricTransaction& x, double finish_ns) {
  source_of(x).waited_ns = x.memory_queue_ns;
  if (finish_ns >= finished_ns_) {
    finished_ns_ = finish_ns;
    last_arrival_ = x.memory_arrival;
    slowest_ = &x;
  }
  if (--messages_left_ > 0) return nullptr;
  const auto earlier = [](const Source& a, const Source& b) { return a.x->own_order < b.x->own_order; };
  const auto last = std::max_element(sources_.begin(), sources_.end(), earlier);
  for (Source& s : sources_) {
    s.carrier = static_cast<size_t>(last - sources_.begin());
    s.x->memory_arrival = last_arrival_;
    s.x->effect_ns = finished_ns_;
    if (const FabricObservers& o = x.route->target->observers(); o && s.x != slowest_) o->joined(*slowest_, *s.x, 0);
    s.x->served();
    if (s.x->mover) s.x->mover->served(*s.x, finished_ns_);
    s.x->initiator->effect_known(*s.x);
  }
  last->x->time_ns = finished_ns_;
  last->x->node = last->x->back_count;
  return last->x;
}

std::vector<FabricTransaction*> Reduction::branch(FabricTransaction& x, const FabricNode& node) {
  std::vector<FabricTransaction*> others;
  const auto me = static_cast<size_t>(&source_of(x) - sources_.data());
  const FabricPort* mine = x.back[x.node - 1].in;
  std::vector<size_t> carriers;
  for (size_t i = 0; i < sources_.size(); ++i) {
    Source& s = sources_[i];
    FabricTransaction& y = *s.x;
    if (i == me || s.carrier != me) continue;
    uint32_t at = y.back_count;
    while (at > 1 && &y.back[at - 1].in->node() != &node) --at;
    const FabricPort* in = y.back[at - 1].in;
    if (in == mine) continue;
    const auto same = std::find_if(carriers.begin(), carriers.end(), [&](size_t c) {
      const FabricTransaction& o = *sources_[c].x;
      return o.back[o.node - 1].in == in;
    });
    s.carrier = same == carriers.end() ? i : *same;
    if (s.carrier != i) continue;
    y.node = y.carries_to[true] = at;
    y.time_ns = x.time_ns;
    y.overhead_ns = x.overhead_ns;
    y.wire_ns = x.wire_ns;
    y.drain_ns = x.drain_ns;
    y.store_forward_ns = x.store_forward_ns;
    y.memory_queue_ns = x.memory_queue_ns;
    y.tail_ns = x.tail_ns;
    // This source was granted earlier. The difference is its wait for other sources.
    y.link_queue_ns = x.link_queue_ns + x.grant_ns - y.grant_ns;
    if (node.observers()) node.observers()->joined(x, y, 0);
    carriers.push_back(i);
    others.push_back(&y);
  }
  return others;
}

}  // namespace kernbench::fabric
