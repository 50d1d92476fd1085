// Memory accesses, and messages' ways (timing contract §2 to §4).
#include <algorithm>

#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::insight {
namespace {

/// The slower one of each class stays.
void add_bandwidth(std::vector<CostPart>& per_byte, const CostPart& part) {
  if (part.ns <= 0) return;
  const auto same = [&](const CostPart& p) { return p.resource == part.resource; };
  const auto it = std::find_if(per_byte.begin(), per_byte.end(), same);
  if (it == per_byte.end()) {
    per_byte.push_back(part);
  } else if (part.ns > it->ns) {
    *it = part;
  }
}

}  // namespace

CostPart RunGraphRecorder::of_node(const Component& node, double ns) const {
  const uint32_t n = node.index();
  return {n < nodes_.size() ? nodes_[n] : Resource::routers, false, n, ns};
}

CostPart RunGraphRecorder::of_link(const Link& link, double ns) const {
  return {links_[link.edge].resource, true, link.edge, ns};
}

RunGraphRecorder::Access* RunGraphRecorder::find(const FabricTransaction& x) {
  if (asked_ != &x) {
    const auto it = accesses_.find(&x);
    asked_ = &x;
    found_ = it == accesses_.end() ? nullptr : &it->second;
  }
  return found_ && found_->open ? found_ : nullptr;
}

/// Transactions come from a pool: what an earlier one of the same address has used is used again.
RunGraphRecorder::Access& RunGraphRecorder::open(const FabricTransaction& x) {
  Access& a = accesses_[&x];
  asked_ = &x;
  found_ = &a;
  a.open = true;
  a.op = 0;
  a.item = nullptr;
  a.transfer = nullptr;
  a.segment = nullptr;
  a.stored_ns = 0;
  a.responds = false;
  a.queued = a.finished = kNone;
  a.served.clear();
  a.chunks.clear();
  return a;
}

const RunGraphRecorder::Way& RunGraphRecorder::way_of(const Route& route) {
  const auto [it, is_new] = ways_.try_emplace(&route);
  Way& w = it->second;
  if (!is_new) return w;
  std::vector<CostPart> there, back;
  const auto per_byte = [&](const Link& link) { return of_link(link, link.bw_gbs > 0 ? 1 / link.bw_gbs : 0); };
  const auto wire = [](const Link& link) { return CostPart{Resource::wires, true, link.edge, link.wire_ns}; };
  for (size_t i = 0; i < route.hops.size(); ++i) {
    const Hop& hop = route.hops[i];
    const Component& node = hop.out->node().owner();
    w.stores = w.stores || stores_[node.index()];
    there.push_back(of_node(node, node.overhead_ns()));
    there.push_back(wire(hop.out->link));
    add_bandwidth(w.write, per_byte(hop.out->link));
    add_bandwidth(w.read, per_byte(hop.in->link));
    if (i + 1 == route.hops.size()) break;
    add_bandwidth(w.write_inner, per_byte(hop.out->link));
    add_bandwidth(w.read_inner, per_byte(hop.in->link));
  }
  for (size_t i = route.hops.size(); i-- > 0;) {
    const Component& node = route.hops[i].out->node().owner();
    back.push_back(wire(route.hops[i].in->link));
    back.push_back(of_node(node, node.overhead_ns()));
  }
  w.there = graph_.cost(there);
  w.back = graph_.cost(back);
  return w;
}

/// What data wait for their rest at nodes that store and forward.
std::vector<CostPart> RunGraphRecorder::stored_on(const FabricTransaction& x, bool back) const {
  std::vector<CostPart> parts;
  if (x.write == back) return parts;
  const auto& hops = x.route->hops;
  for (size_t i = 1; i < hops.size(); ++i) {  // 0: the initiator
    if (!stores_[hops[i].out->node().owner().index()]) continue;
    const Link& from = back ? hops[i].in->link : hops[i - 1].out->link;
    parts.push_back(of_link(from, from.transfer_ns(static_cast<double>(x.nbytes))));
  }
  return parts;
}

/// Where links are no servers.
Cost RunGraphRecorder::way_cost(const FabricTransaction& x, bool back) {
  const Way& way = way_of(*x.route);
  Cost cost = back ? way.back : way.there;
  if (!way.stores) return cost;
  for (const CostPart& p : stored_on(x, back)) cost = graph_.plus(cost, p);
  return cost;
}

void RunGraphRecorder::with_bandwidths(const Cause& last, const std::vector<CostPart>& per_byte, double bytes) {
  if (per_byte.empty()) causes_.push_back(last);
  for (CostPart p : per_byte) {
    p.ns *= bytes;
    causes_.push_back(then(last, p));
  }
}

// ---- setting out

void RunGraphRecorder::begin(Access& a, Moment granted, double t) {
  a.travellers.assign(1, {{granted, 0}, t, nullptr});
}

void RunGraphRecorder::access_started(const Component& initiator, const FabricTransaction& x, double t) {
  Access& a = open(x);
  if (const PeItem* item = std::exchange(next_item_, nullptr)) {
    a.item = item;
    a.op = op_of(*item);
    const Moment before = item_moment(item);
    const double looks_up = t - graph_.ns(before);
    const Cost mmu = graph_.cost(CostPart{Resource::mmu, false, initiator.index(), looks_up});
    return begin(a, mmu ? graph_.add(t, a.op, {{before, mmu}}) : before, t);
  }
  const MemoryRequest* request = x.initiator->request_of(x);
  const auto transfer = request && request->part_of ? transfers_.find(request->part_of) : transfers_.end();
  causes_.push_back({last_access_[initiator.index()], 0});
  if (transfer != transfers_.end()) {
    a.transfer = transfer->first;
    causes_.push_back({transfer->second, 0});
  }
  begin(a, add(t, 0), t);
}

void RunGraphRecorder::post_started(const Component& initiator, const FabricTransaction& x, double t) {
  Access& a = open(x);
  // A credit leaves when its slot has been read.
  const uint32_t pe = pe_of_node_[initiator.index()];
  a.segment = std::exchange(next_segment_, nullptr);
  if (!a.segment && pe != CostPart::kNobody) a.segment = std::exchange(pes_[pe].reading, nullptr);
  const auto it = segments_.find(a.segment);
  if (it == segments_.end()) return begin(a, graph_.add(t, 0, {}), t);
  it->second.posted = &x;
  a.op = it->second.op;
  begin(a, it->second.at, t);
}

// ---- on links that are servers

void RunGraphRecorder::link_crossed(const FabricTransaction& x, const Link& link, const LinkCrossing& c) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  if (c.response && !a.responds) responds(x, a);
  if (a.travellers.size() <= c.flit)
    a.travellers.resize(c.flit + 1, a.travellers.front().by ? Traveller{} : a.travellers.front());
  const Component& node = platform_.component(platform_.graph().edges[link.edge].from);
  const bool data = x.write != c.response;
  const bool held = flits_ && data && stores_[node.index()];
  Traveller& v = a.travellers[c.flit];
  Traveller& before = held ? a.travellers.back() : v;
  Cause own = before.last;
  if (c.flit == 0 || held) {
    double open = c.ready_ns - before.here_ns;
    if (!flits_) {
      const double stored = x.store_forward_ns - a.stored_ns;
      a.stored_ns = x.store_forward_ns;
      open -= stored;
      if (before.by && stored > 0) own = then(own, of_link(*before.by, stored));
    }
    // A response that has just left its memory has paid there.
    own = then(own, of_node(node, open));
  }
  LinkState& state = links_[link.edge];
  // What came over one link keeps its order.
  if (turns_ && (!before.by || before.by != state.by)) comes_to(state.last, own);
  state.last = own;
  state.by = before.by;
  state.taken = graph_.add(c.start_ns, a.op, {own, {state.taken, state.held}});
  if (const double takes = c.end_ns - c.start_ns; state.held_ns != takes) {
    const CostPart wire{Resource::wires, true, link.edge, link.wire_ns};
    state.held_ns = takes;
    state.held = graph_.cost(of_link(link, takes));
    state.onward = graph_.plus(flits_ ? state.held : 0, wire);
  }
  v.last = {state.taken, state.onward};
  v.here_ns = c.arrive_ns;
  v.by = &link;
}

// ---- at the memory

/// The request's header is there.
Cause RunGraphRecorder::at_memory(const FabricTransaction& x, Access& a) {
  const Cause& last = a.travellers.front().last;
  return links_serve_ ? last : then(last, way_cost(x, false));
}

void RunGraphRecorder::memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step,
                                      double t) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  MemoryState& m = memories_[memory.index()];
  if (step == MemoryStep::finished) return finished(memory, x, a, t);
  if (step == MemoryStep::arrived || flits_ || a.queued != kNone) return;
  const Cause there = at_memory(x, a);
  comes_to(m.last, there);
  const CostPart overhead{Resource::memory, false, memory.index(), memory.overhead_ns()};
  a.queued = graph_.add(t + overhead.ns, a.op, {then(there, overhead), {m.free, graph_.cost(overhead)}});
}

void RunGraphRecorder::channel_taken(const MemoryTarget& memory, const FabricTransaction& x, size_t number,
                                     double ready, double from, double to) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  MemoryState& m = memories_[memory.index()];
  if (m.channels.size() <= number) m.channels.resize(number + 1);
  if (a.queued == kNone) {
    const CostPart overhead{Resource::memory, false, memory.index(), memory.overhead_ns()};
    a.queued = graph_.add(ready, a.op, {then(at_memory(x, a), overhead)});
    comes_to(m.last, {a.queued, 0});
  }
  const CostPart held{m.bandwidth, false, memory.index(), to - from};
  Moment& channel = m.channels[number];
  const size_t flit = a.served.size();
  const bool own_flit = flits_ && x.write && flit > 0 && flit < a.travellers.size();
  if (!flits_) {
    for (const Chunk& c : a.chunks) {
      if (c.before != channel || c.ns != held.ns) continue;
      channel = c.served;
      return;
    }
    a.chunks.push_back({channel, held.ns, 0});
  }
  const Cost cost = graph_.cost(held);
  causes_ = {{a.queued, cost}, {channel, cost}};
  if (own_flit) causes_.push_back(then(a.travellers[flit].last, held));
  channel = add(to, a.op);
  a.served.push_back(channel);
  if (!flits_) a.chunks.back().served = channel;
}

void RunGraphRecorder::finished(const MemoryTarget& memory, const FabricTransaction& x, Access& a, double t) {
  MemoryState& m = memories_[memory.index()];
  for (const Moment s : a.served) causes_.push_back({s, 0});
  if (!flits_ && a.queued != kNone) {
    const Way& way = way_of(*x.route);
    if (!a.served.empty()) {
      with_bandwidths({a.queued, 0}, x.write ? way.write_inner : way.read_inner, static_cast<double>(x.nbytes));
    } else if (m.fifo) {
      with_bandwidths({a.queued, 0}, x.write ? way.write : way.read, static_cast<double>(x.nbytes));
    } else {
      causes_.push_back(
          {a.queued, graph_.cost(CostPart{Resource::memory, false, memory.index(), t - graph_.ns(a.queued)})});
    }
  }
  a.finished = add(t, a.op);
  m.free = a.finished;
}

// ---- on the way back

void RunGraphRecorder::responds(const FabricTransaction& x, Access& a) {
  a.responds = true;
  a.stored_ns = x.store_forward_ns;
  if (flits_ && !x.write && !a.served.empty()) {
    a.travellers.clear();
    for (const Moment s : a.served) a.travellers.push_back({{s, 0}, graph_.ns(s), nullptr});
    return;
  }
  const Moment from = x.write || a.queued == kNone ? a.finished : a.queued;
  begin(a, from == kNone ? 0 : from, from == kNone ? 0 : graph_.ns(from));
}

Moment RunGraphRecorder::came_back(const Component& initiator, const FabricTransaction& x, Access& a, double t) {
  if (a.finished == kNone) return graph_.add(t, a.op, {a.travellers.front().last});
  if (!responses_travel_ || x.hop_count == 0) return a.finished;
  if (!a.responds) responds(x, a);
  const CostPart overhead = of_node(initiator, initiator.overhead_ns());
  const Cause& first = a.travellers.front().last;
  if (flits_) {
    causes_.push_back(then(first, overhead));
    if (a.travellers.size() > 1) causes_.push_back(a.travellers.back().last);
    return add(t, a.op);
  }
  const Cause header = links_serve_ ? then(first, overhead) : then(first, way_cost(x, true));
  if (x.write) return graph_.add(t, a.op, {header});
  const Way& way = way_of(*x.route);
  with_bandwidths(header, a.served.empty() ? way.read : way.read_inner, static_cast<double>(x.nbytes));
  if (!a.served.empty()) causes_.push_back({a.finished, way_cost(x, true)});
  return add(t, a.op);
}

void RunGraphRecorder::access_done(const Component& initiator, const FabricTransaction& x, double t) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  const Moment done = not_before(t, came_back(initiator, x, a, t));
  last_access_[initiator.index()] = done;
  if (a.item) items_[a.item] = done;
  if (a.transfer) {
    Moment& last = transfers_[a.transfer];
    if (graph_.ns(done) >= graph_.ns(last)) last = done;
  }
  a.open = false;
}

void RunGraphRecorder::post_done(const Component&, const FabricTransaction& x, double t) {
  Access* access = find(x);
  if (!access) return;
  access->open = false;
  const Access& a = *access;
  const auto segment = segments_.find(a.segment);
  if (segment == segments_.end()) return;
  const Cause& last = a.travellers.back().last;
  message_came(x, *a.segment, segment->second, links_serve_ ? last : then(last, way_cost(x, false)), t);
}

}  // namespace kernbench::insight
