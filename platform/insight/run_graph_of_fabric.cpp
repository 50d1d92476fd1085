// SPDX-License-Identifier: Apache-2.0
// Memory accesses, and messages' routes (timing rules §2 to §4).
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::insight {
namespace {

/// Keeps the slower one of each class.
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

/// The slowest link on the data's path; without links, the memory.
CostPart slowest_of(const std::vector<CostPart>& per_byte, uint32_t memory) {
  const auto less = [](const CostPart& a, const CostPart& b) { return a.ns < b.ns; };
  const auto slowest = std::max_element(per_byte.begin(), per_byte.end(), less);
  return slowest == per_byte.end() ? CostPart{Resource::memory, false, memory} : *slowest;
}

}  // namespace

bool RunGraphRecorder::polls(const Access& a) {
  return a.item && a.item->command && a.item->command->desc && a.item->command->desc->polls;
}

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

/// Transactions come from a pool, so the entry of the address is reused with its memory.
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
  a.by_header = true;
  a.queued = a.finished = a.left = kNone;
  a.served.clear();
  a.chunks.clear();
  return a;
}

RunGraphRecorder::Way& RunGraphRecorder::way_of(const Route& route) {
  const auto [it, is_new] = ways_.try_emplace(&route);
  Way& w = it->second;
  if (!is_new) return w;
  const auto per_byte = [&](const Link& link) { return of_link(link, link.bw_gbs > 0 ? 1 / link.bw_gbs : 0); };
  for (const bool response : {false, true}) {
    const Path path = route.path(response);
    for (uint32_t i = 0; i < path.size(); ++i) {
      const PathHop hop = path.at_node(i);
      w.alike = w.alike && (i == 0 || hop.node().costs_alike());
      add_bandwidth(response ? w.read : w.write, per_byte(*hop.link));
      if (i + 1 < path.size()) add_bandwidth(response ? w.read_inner : w.write_inner, per_byte(*hop.link));
    }
  }
  return w;
}

/// Cost of the complete route, for links that are not observed: its blocks and wires, then store-and-forward waits.
Cost RunGraphRecorder::way_cost(const FabricTransaction& x, bool back) {
  const Route& route = *x.route;
  Way& way = way_of(route);
  Cost& kept = back ? way.back : way.there;
  if (way.alike && kept != 0) return kept;
  const PassingMessage message{x, back};
  std::vector<CostPart> parts, stored;
  for (const PathHop& hop : route.path(back)) {
    const NodeCost at = hop.cost(message);
    const CostPart node = of_node(hop.node().owner(), at.overhead_ns);
    const CostPart wire{Resource::wires, true, hop.link->edge, hop.link->wire_ns};
    parts.insert(parts.end(), {back ? wire : node, back ? node : wire});
    if (at.store_forward_ns > 0)
      stored.insert(back ? stored.begin() : stored.end(), of_link(*hop.from, at.store_forward_ns));
  }
  Cost cost = graph_.cost(parts);
  for (const CostPart& p : stored) cost = graph_.plus(cost, p);
  return kept = cost;
}

CostPart RunGraphRecorder::overhead_of(const MemoryTarget& memory) const {
  return {Resource::memory, false, memory.index(), memory.end_ns()};
}

void RunGraphRecorder::with_bandwidths(const Cause& last, const std::vector<CostPart>& per_byte, double bytes) {
  if (per_byte.empty()) causes_.push_back(last);
  for (CostPart p : per_byte) {
    p.ns *= bytes;
    causes_.push_back(then(last, p));
  }
}

/// An atomic's bytes are read and written in sequence.
void RunGraphRecorder::read_and_written(const Cause& last, const Way& way, const FabricTransaction& x) {
  if (way.write.empty()) return with_bandwidths(last, way.read, static_cast<double>(x.nbytes));
  for (CostPart p : way.write) {
    p.ns *= static_cast<double>(x.data_bytes(false));
    with_bandwidths(then(last, p), way.read, static_cast<double>(x.nbytes));
  }
}

// ---- setting out

void RunGraphRecorder::begin(Access& a, Moment granted, double t) {
  a.travellers.assign(1, Traveller({granted, 0}, t));
}

/// Start of the item's service at pe_dma; if no server has the item, the item's last event.
Moment RunGraphRecorder::service_of(const Component& initiator, const PeItem& item) const {
  const uint32_t pe = pe_of_node_[initiator.index()];
  if (pe != CostPart::kNobody) {
    for (const StageState& st : pes_[pe].stages) {
      for (const Server& server : st.servers) {
        if (server.item == &item) return server.service;
      }
    }
  }
  return item_moment(&item);
}

void RunGraphRecorder::access_started(const Component& initiator, const FabricTransaction& x, double t) {
  Access& a = open(x);
  if (const PeItem* item = std::exchange(next_item_, nullptr)) {
    a.item = item;
    a.op = op_of(*item);
    const Moment before = item_moment(item), service = service_of(initiator, *item);
    const double looks_up = t - graph_.ns(before);
    const Cost mmu = graph_.cost(CostPart{Resource::mmu, false, initiator.index(), looks_up});
    // Not the item's first transaction: it waited for an earlier one.
    if (service != before)
      return begin(a, graph_.add(t, a.op, {{service, mmu}, {before, graph_.marked(Limit::outstanding, mmu)}}), t);
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
  if (x.channel == FabricInitiator::kComm) a.segment = static_cast<const QueueSegment*>(x.context);
  if (!a.segment && pe != CostPart::kNobody) a.segment = std::exchange(pes_[pe].reading, nullptr);
  const auto it = segments_.find(a.segment);
  if (it == segments_.end()) return begin(a, graph_.add(t, 0, {}), t);
  it->second.posted = &x;
  a.op = it->second.op;
  begin(a, it->second.at, t);
}

/// A branch starts with the progress of the transaction that carried it.
void RunGraphRecorder::branched(const FabricTransaction& from, const FabricTransaction& branch, uint32_t flit) {
  const Access* source = find(from);
  if (!source) return;
  const Access& a = *source;
  const auto it = accesses_.find(&branch);
  Access& b = it != accesses_.end() && it->second.open ? it->second : open(branch);
  if (!branch.message) b.op = a.op;
  b.stored_ns = a.stored_ns;
  b.by_header = a.by_header;
  if (b.travellers.size() <= flit) b.travellers.resize(flit + 1);
  if (flit < a.travellers.size()) b.travellers[flit] = a.travellers[flit];
}

/// The way of what it waited for is its own from here on.
void RunGraphRecorder::joined(const FabricTransaction& from, const FabricTransaction& to, uint32_t flit) {
  const Access* source = find(from);
  if (!source) return;
  const Access& a = *source;
  Access* waits = find(to);
  if (!waits || flit >= a.travellers.size()) return;
  Access& b = *waits;
  if (b.travellers.size() <= flit) b.travellers.resize(flit + 1);
  b.travellers[flit] = a.travellers[flit];
  b.stored_ns = to.store_forward_ns;
  b.by_header = a.by_header;
  b.responds = a.responds;
  b.queued = a.queued;
  b.finished = a.finished;
  b.left = a.left;
  b.served = a.served;
  b.chunks = a.chunks;
}

// ---- on links that are servers

/// Whether a header never waits at the link, on any machine. All earlier headers came over the same link, and had the
/// same delay at the node. Each held that link as long as it holds this one, and both links have the same resource. So
/// headers arrive at least as far apart as they leave.
bool RunGraphRecorder::may_follow(const LinkState& state, const Traveller& before, const LinkCrossing& c,
                                  double stop_ns) const {
  const auto same = [](double a, double b) { return std::abs(a - b) <= RunGraph::kNothingNs; };
  const bool as_before = !state.follows_by || (before.by == state.follows_by && same(stop_ns, state.stop_ns));
  return c.header && before.by && as_before && links_[before.by->edge].resource == state.resource &&
         same(c.start_ns, c.ready_ns) && same(before.held_ns, c.end_ns - c.start_ns);
}

/// Moves such a header to the link's other end.
Cause RunGraphRecorder::follow(LinkState& state, const Link& link, const Traveller& before, const LinkCrossing& c,
                               double stop_ns, OpNumber op) {
  const Cause& last = before.last;
  if (!state.follows_by) {
    state.follows_by = before.by;
    state.stop_ns = stop_ns;
  }
  if (state.in != last.cost) {
    state.in = last.cost;
    state.ready = graph_.plus(last.cost, CostPart{nodes_[state.node], false, state.node, state.stop_ns});
    state.out = graph_.plus(state.ready, CostPart{Resource::wires, true, link.edge, link.wire_ns});
  }
  state.taken = {last.from, state.ready};
  state.taken_ns = c.start_ns;
  state.takes = c.end_ns - c.start_ns;
  state.op = op;
  return {last.from, state.out};
}

/// From now on messages wait for each other; the next one waits for the last.
void RunGraphRecorder::follow_no_more(LinkState& state, const Link& link) {
  state.follows = false;
  if (state.in == CostPart::kNobody) return;
  state.taken = {graph_.add(state.taken_ns, state.op, {state.taken}), 0};
  hold(state, link, state.takes, true);
}

/// The message waits for the previous one.
Cause RunGraphRecorder::take(LinkState& state, const Link& link, Cause ready, const LinkCrossing& c, OpNumber op) {
  Cause free{state.taken.from, state.held};
  if (graph_.has_finite_buffers()) wait_for_room(link, c.start_ns, ready, free);
  state.taken = {graph_.add(c.start_ns, op, {ready, free}), 0};
  const double takes = c.end_ns - c.start_ns;
  if (state.held_ns != takes) hold(state, link, takes, c.header);
  return {state.taken.from, state.onward};
}

void RunGraphRecorder::hold(LinkState& state, const Link& link, double takes, bool header) {
  const CostPart wire{Resource::wires, true, link.edge, link.wire_ns};
  state.held_ns = takes;
  state.held = graph_.cost(of_link(link, takes));
  state.onward = graph_.plus(header ? 0 : state.held, wire);
}

void RunGraphRecorder::link_crossed(const FabricTransaction& x, const Link& link, const LinkCrossing& c) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  if (c.response && !a.responds) responds(x, a);
  if (a.travellers.size() <= c.flit)
    a.travellers.resize(c.flit + 1, a.travellers.front().by ? Traveller{} : a.travellers.front());
  a.by_header = c.header;
  // Flits of a response that its memory serves as a whole leave in sequence.
  if (c.response && x.served_whole && c.flit > 0 && &link == &x.first_back().in->link)
    a.travellers[c.flit] = Traveller(
        behind(left_memory(a), static_cast<const MemoryTarget&>(x.first_back().in->node()), x, c.ready_ns), c.ready_ns);
  const Traveller& before = a.travellers[c.ready_by];
  LinkState& state = links_[link.edge];
  Cause ready = before.last, onward;
  double stop_ns = 0, stored_ns = 0;
  if (c.flit == 0 || c.ready_by != c.flit) {
    if (c.header) stored_ns = x.store_forward_ns - std::exchange(a.stored_ns, x.store_forward_ns);
    stop_ns = c.ready_ns - before.here_ns - stored_ns;
  }
  const bool leaves_memory = c.response && x.served_whole && stop_ns > 0 && &link == &x.first_back().in->link;
  const std::optional<Cost> at_memory =
      leaves_memory
          ? spent(before.last.from, static_cast<const MemoryTarget&>(x.first_back().in->node()), x, c.ready_ns)
          : std::nullopt;
  if (state.follows && (at_memory || stored_ns > 0 || !may_follow(state, before, c, stop_ns)))
    follow_no_more(state, link);
  if (state.follows) {
    onward = follow(state, link, before, c, stop_ns, a.op);
    ready = state.taken;
  } else {
    if (before.by && stored_ns > 0) ready = then(ready, of_link(*before.by, stored_ns));
    // A response pays its node's delay when it leaves the memory.
    ready = at_memory ? then(ready, *at_memory) : then(ready, {nodes_[state.node], false, state.node, stop_ns});
  }
  // Messages of one link keep their order.
  if (turns_ && (!before.by || before.by != state.by)) comes_to(state.last, ready);
  state.last = ready;
  state.by = before.by;
  if (!state.follows) onward = take(state, link, ready, c, a.op);
  Traveller& v = a.travellers[c.flit];
  v.last = onward;
  v.took = state.taken;
  v.here_ns = c.arrive_ns;
  v.by = &link;
  v.held_ns = c.end_ns - c.start_ns;
}

/// A ready message at a free link waits if the buffer after the link is full, or has no free virtual channel.
void RunGraphRecorder::wait_for_room(const Link& link, double start_ns, Cause& own, Cause& free) {
  Cause& last = graph_.ns(free) > graph_.ns(own) ? free : own;
  const double waits = start_ns - graph_.ns(last);
  if (waits > RunGraph::kSameNs) last = then(last, {Resource::buffers, true, link.edge, waits, Limit::buffers});
}

// ---- at the memory

/// Arrival of the request's header.
Cause RunGraphRecorder::at_memory(const FabricTransaction& x, Access& a) {
  const Traveller& header = x.served_whole ? a.travellers.back() : a.travellers.front();  // flits: last, or first
  return header.by ? header.last : then(header.last, way_cost(x, false));
}

void RunGraphRecorder::memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step,
                                      double t) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  MemoryState& m = memories_[memory.index()];
  if (step == MemoryStep::finished) return finished(memory, x, a, t);
  if (step == MemoryStep::arrived || !x.served_whole || a.queued != kNone) return;
  const Cause there = at_memory(x, a);
  comes_to(m.last, there);
  const CostPart overhead = overhead_of(memory);
  const Moment free = graph_.ns(m.free) < t + RunGraph::kSameNs ? m.free : m.bound;
  causes_ = {then(there, overhead)};
  // A memory that schedules requests may begin before it has finished others.
  if (graph_.ns(free) < t + RunGraph::kSameNs) causes_.push_back({free, graph_.cost(overhead)});
  a.queued = add(t + overhead.ns, a.op);
}

void RunGraphRecorder::channel_taken(const MemoryTarget& memory, const FabricTransaction& x, size_t number,
                                     double ready, double from, double to) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  MemoryState& m = memories_[memory.index()];
  if (m.channels.size() <= number) m.channels.resize(number + 1);
  if (a.queued == kNone) {
    a.queued = graph_.add(ready, a.op, {then(at_memory(x, a), overhead_of(memory))});
    comes_to(m.last, {a.queued, 0});
  }
  const CostPart held{m.bandwidth, false, memory.index(), to - from};
  Moment& channel = m.channels[number];
  const size_t flit = a.served.size();
  const bool own_flit = !x.served_whole && x.write && flit > 0 && flit < a.travellers.size();
  if (x.served_whole) {
    for (const Chunk& c : a.chunks) {
      if (c.before != channel || c.ns != held.ns) continue;
      channel = c.served;
      return;
    }
    a.chunks.push_back({channel, held.ns, 0});
  }
  const Cost cost = held_channel(memory, x, held);
  causes_ = {{a.queued, cost}, {channel, graph_.marked(Limit::channels, cost)}};
  if (own_flit) causes_.push_back(then(a.travellers[flit].last, held));
  channel = add(to, a.op);
  a.served.push_back(channel);
  if (x.served_whole) a.chunks.back().served = channel;
}

/// A whole request's time at one channel beyond its even share is due to the uneven spread.
Cost RunGraphRecorder::held_channel(const MemoryTarget& memory, const FabricTransaction& x, CostPart held) {
  const double most = x.served_whole ? memory.most_gbs(0) : 0;
  const double share = most > 0 ? static_cast<double>(x.nbytes) / most : held.ns;
  if (held.ns <= share + RunGraph::kSameNs) return graph_.cost(held);
  CostPart excess = held;
  excess.ns -= share;
  excess.limit = Limit::channels;
  held.ns = share;
  return graph_.plus(graph_.cost(held), excess);
}

/// The last write of the flag after `since` and up to `until`; 0: none.
Moment RunGraphRecorder::written(uint64_t address, Moment since, double until) const {
  const auto flag = flags_.find(address);
  if (flag == flags_.end()) return 0;
  for (const Moment m : {flag->second.written, flag->second.before}) {
    if (m != 0 && graph_.ns(m) <= until) return graph_.ns(m) > graph_.ns(since) ? m : 0;
  }
  return 0;
}

/// A flag is recorded from its first poll on.
void RunGraphRecorder::poll_or_write(const Access& a, const FabricTransaction& x) {
  if (x.write) {
    for (auto f = flags_.lower_bound(x.address); f != flags_.end() && f->first < x.address + x.nbytes; ++f)
      f->second = {a.finished, f->second.written};
    return;
  }
  const uint32_t pe = pe_of_node_[x.initiator->node().owner().index()];
  if (!polls(a) || pe == CostPart::kNobody) return;
  flags_.try_emplace(x.address);
  pes_[pe].flag = x.address;
  pes_[pe].polled = a.finished;
}

void RunGraphRecorder::finished(const MemoryTarget& memory, const FabricTransaction& x, Access& a, double t) {
  MemoryState& m = memories_[memory.index()];
  for (const Moment s : a.served) causes_.push_back({s, 0});
  if (x.served_whole && a.queued != kNone) {
    const Way& way = way_of(*x.route);
    switch (x.service_bound) {
      case ServiceBound::way_to_memory:
        // An atomic takes the time of the slower direction.
        if (x.write) with_bandwidths({a.queued, 0}, way.write_inner, static_cast<double>(x.data_bytes(false)));
        if (!x.write || x.is_atomic()) with_bandwidths({a.queued, 0}, way.read_inner, static_cast<double>(x.nbytes));
        break;
      case ServiceBound::way:
        if (x.is_atomic()) {
          read_and_written({a.queued, 0}, way, x);
        } else {
          with_bandwidths({a.queued, 0}, x.write ? way.write : way.read, static_cast<double>(x.nbytes));
        }
        break;
      case ServiceBound::memory:
        causes_.push_back(behind(a.queued, memory, x, t - x.own_service_ns));
    }
  }
  // A poll waits for a change that was made while the poll was on its way.
  if (polls(a) && !x.write) {
    const auto command = commands_.find(a.item->command);
    const Moment asked = command == commands_.end() ? 0 : command->second.at;
    const Moment change = written(x.address, asked, t - x.own_service_ns);
    if (change != 0) causes_.insert(causes_.begin(), behind(change, memory, x, t - x.own_service_ns));
  }
  m.bound = m.free = a.finished = add(t - x.own_service_ns, a.op);
  if (x.own_service_ns > 0) m.free = a.finished = graph_.add(t, a.op, {behind(m.bound, memory, x, t)});
  if (!flags_.empty() || !x.write) poll_or_write(a, x);
  const double leaves = t - x.tail_ns;
  a.left = x.write || a.queued == kNone ? a.finished : a.queued;
  if (x.own_service_ns > 0 && a.left != a.finished)
    a.left = graph_.add(leaves, a.op, {behind(a.left, memory, x, leaves)});
}

std::optional<Cost> RunGraphRecorder::spent(Moment from, const MemoryTarget& memory, const FabricTransaction& x,
                                            double t) {
  const std::vector<TimeShare> shares = memory.spent(x, graph_.ns(from), t);
  if (shares.empty()) return {};
  double rest = t - graph_.ns(from);
  std::vector<CostPart> parts;
  for (const TimeShare& s : shares) {
    const double ns = std::min(s.ns, rest);
    parts.push_back({s.resource, false, memory.index(), ns});
    rest -= ns;
  }
  // The rest is the data's transfer over their slowest link.
  const Way& way = way_of(*x.route);
  parts.push_back(slowest_of(x.write ? way.write_inner : way.read_inner, memory.index()));
  parts.back().ns = rest;
  return graph_.cost(parts);
}

/// Time until t that the memory itself takes.
Cause RunGraphRecorder::behind(Moment before, const MemoryTarget& memory, const FabricTransaction& x, double t) {
  if (const std::optional<Cost> cost = spent(before, memory, x, t)) return {before, *cost};
  return {before, graph_.cost(CostPart{Resource::memory, false, memory.index(), t - graph_.ns(before)})};
}

// ---- on the way back

void RunGraphRecorder::responds(const FabricTransaction& x, Access& a) {
  a.responds = true;
  a.stored_ns = x.store_forward_ns;
  if (!x.served_whole && !x.write && !a.served.empty()) {
    a.travellers.clear();
    for (const Moment s : a.served) a.travellers.emplace_back(Cause{s, 0}, graph_.ns(s));
    return;
  }
  const Moment from = left_memory(a);
  begin(a, from, from == 0 ? 0 : graph_.ns(from));
}

Moment RunGraphRecorder::came_back(const Component& initiator, const FabricTransaction& x, Access& a, double t) {
  if (a.finished == kNone) return graph_.add(t, a.op, {a.travellers.front().last});
  if (!responses_travel_ || x.rows.posted || x.hop_count == 0) return a.finished;
  if (!a.responds) responds(x, a);
  const CostPart overhead = of_node(initiator, x.initiator->node().end_ns());
  const Cause& first = a.travellers.front().last;
  if (!a.by_header) {
    causes_.push_back(then(first, overhead));
    if (a.travellers.size() > 1) causes_.push_back(a.travellers.back().last);
    return add(t, a.op);
  }
  const Cause header = a.travellers.front().by ? then(first, overhead) : then(first, way_cost(x, true));
  if (!x.has_data(true)) return graph_.add(t, a.op, {header});
  const Way& way = way_of(*x.route);
  const bool past_edge = x.served_whole && x.route->target && x.route->target->is_past_its_edge();
  if (past_edge && a.served.empty() && x.service_bound == ServiceBound::memory && !x.is_atomic()) {
    // Its last data leave when the memory is done, independently of the header.
    CostPart rest = slowest_of(way.read_inner, x.route->target->index());
    rest.ns = x.tail_ns - x.covered_ns;
    causes_.push_back({a.finished, way_cost(x, true)});
    causes_.push_back(then(header, rest));
    return add(t, a.op);
  }
  with_bandwidths(header, a.served.empty() && !past_edge ? way.read : way.read_inner, static_cast<double>(x.nbytes));
  if (!a.served.empty() && !x.is_atomic()) causes_.push_back({a.finished, way_cost(x, true)});
  return add(t, a.op);
}

void RunGraphRecorder::access_done(const Component& initiator, const FabricTransaction& x, double t) {
  Access* access = find(x);
  if (!access) return;
  Access& a = *access;
  Moment back = kNone;
  if (x.multicast) {
    const FabricTransaction& slowest = x.multicast->slowest();
    Access* last = find(slowest);
    if (!last) return;
    back = came_back(initiator, slowest, *last, t);
    x.multicast->for_each([&](const FabricTransaction& m) {
      if (Access* branch = find(m)) branch->open = false;
    });
  } else {
    back = came_back(initiator, x, a, t);
  }
  const Moment done = not_before(t, back);
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
  const Traveller& last = a.travellers.back();
  const Cause there = last.by ? last.last : then(last.last, way_cost(x, false));
  message_came(x, *a.segment, segment->second, there, a.by_header, t);
}

}  // namespace kernbench::insight
