// Memory accesses, and messages' ways (timing contract §2 to §4).
#include <algorithm>

#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::insight {
namespace {

constexpr double kSameNs = 1e-5;

bool stores(const FabricNode& node) {
  const auto* router = dynamic_cast<const Router*>(&node);
  return router && router->stores_and_forwards();
}

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
  const auto n = node.index();
  const bool initiator = n < platform_.graph().nodes.size() && pe_of_node_[n] != CostPart::kNobody;
  return {initiator ? Resource::engines : Resource::routers, false, n, ns};
}

CostPart RunGraphRecorder::of_link(const Link& link, double ns) const {
  const topology::Graph& graph = platform_.graph();
  return {resource_of(graph, graph.edges[link.edge]), true, link.edge, ns};
}

Cause RunGraphRecorder::then(const Cause& last, const std::vector<CostPart>& parts) {
  if (parts.empty()) return last;
  const auto [begin, end] = graph_.parts(last.cost);
  std::vector<CostPart> all(begin, end);
  all.insert(all.end(), parts.begin(), parts.end());
  return {last.from, graph_.cost(all)};
}

const RunGraphRecorder::Way& RunGraphRecorder::way_of(const Route& route) {
  const auto [it, is_new] = ways_.try_emplace(&route);
  Way& w = it->second;
  if (!is_new) return w;
  const auto per_byte = [&](const Link& link) { return of_link(link, link.bw_gbs > 0 ? 1 / link.bw_gbs : 0); };
  const auto wire = [](const Link& link) { return CostPart{Resource::wires, true, link.edge, link.wire_ns}; };
  for (size_t i = 0; i < route.hops.size(); ++i) {
    const Hop& hop = route.hops[i];
    const Component& node = hop.out->node().owner();
    w.stores = w.stores || stores(hop.out->node());
    w.there.push_back(of_node(node, node.overhead_ns()));
    w.there.push_back(wire(hop.out->link));
    add_bandwidth(w.write, per_byte(hop.out->link));
    add_bandwidth(w.read, per_byte(hop.in->link));
    if (i + 1 == route.hops.size()) break;
    add_bandwidth(w.write_inner, per_byte(hop.out->link));
    add_bandwidth(w.read_inner, per_byte(hop.in->link));
  }
  for (size_t i = route.hops.size(); i-- > 0;) {
    const Component& node = route.hops[i].out->node().owner();
    w.back.push_back(wire(route.hops[i].in->link));
    w.back.push_back(of_node(node, node.overhead_ns()));
  }
  return w;
}

/// What data wait for their rest at nodes that store and forward.
std::vector<CostPart> RunGraphRecorder::stored_on(const FabricTransaction& x, bool back) const {
  std::vector<CostPart> parts;
  if (x.write == back) return parts;
  const auto& hops = x.route->hops;
  for (size_t i = 1; i < hops.size(); ++i) {  // 0: the initiator
    if (!stores(hops[i].out->node())) continue;
    const Link& from = back ? hops[i].in->link : hops[i - 1].out->link;
    parts.push_back(of_link(from, from.transfer_ns(static_cast<double>(x.nbytes))));
  }
  return parts;
}

/// Where links are no servers.
std::vector<CostPart> RunGraphRecorder::way_parts(const FabricTransaction& x, bool back) {
  const Way& way = way_of(*x.route);
  std::vector<CostPart> parts = back ? way.back : way.there;
  if (!way.stores) return parts;
  const std::vector<CostPart> stored = stored_on(x, back);
  parts.insert(parts.end(), stored.begin(), stored.end());
  return parts;
}

void RunGraphRecorder::with_bandwidths(std::vector<Cause>& causes, const Cause& last,
                                       const std::vector<CostPart>& per_byte, double bytes) {
  if (per_byte.empty()) causes.push_back(last);
  for (CostPart p : per_byte) {
    p.ns *= bytes;
    causes.push_back(then(last, {p}));
  }
}

// ---- setting out

void RunGraphRecorder::begin(Access& a, Moment granted, double t) {
  a.travellers.assign(1, {{granted, 0}, t, nullptr});
}

void RunGraphRecorder::access_started(const Component& initiator, const FabricTransaction& x, double t) {
  Access& a = accesses_[&x];
  a = Access();
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
  std::vector<Cause> causes = {{last_access_[initiator.index()], 0}};
  if (transfer != transfers_.end()) {
    a.transfer = transfer->first;
    causes.push_back({transfer->second, 0});
  }
  begin(a, add(t, 0, causes), t);
}

void RunGraphRecorder::post_started(const Component& initiator, const FabricTransaction& x, double t) {
  Access& a = accesses_[&x];
  a = Access();
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
  const auto it = accesses_.find(&x);
  if (it == accesses_.end()) return;
  Access& a = it->second;
  if (c.response && !a.responds) responds(x, a);
  if (a.travellers.size() <= c.flit)
    a.travellers.resize(c.flit + 1, a.travellers.front().by ? Traveller{} : a.travellers.front());
  const FabricNode& node = *platform_.component(platform_.graph().edges[link.edge].from).fabric_node();
  const bool data = x.write != c.response;
  const bool held = flits_ && data && stores(node);
  Traveller& v = a.travellers[c.flit];
  Traveller& before = held ? a.travellers.back() : v;
  std::vector<CostPart> parts;
  if (c.flit == 0 || held) {
    double open = c.ready_ns - before.here_ns;
    if (!flits_) {
      const double stored = x.store_forward_ns - a.stored_ns;
      a.stored_ns = x.store_forward_ns;
      open -= stored;
      if (before.by && stored > 0) parts.push_back(of_link(*before.by, stored));
    }
    // A response that has just left its memory has paid there.
    parts.push_back(of_node(node.owner(), open));
  }
  const Cause own = then(before.last, parts);
  const Taken& taken = links_[link.edge];
  const Moment at = graph_.add(c.start_ns, a.op, {own, {taken.at, taken.held}});
  const CostPart transfer = of_link(link, c.end_ns - c.start_ns);
  links_[link.edge] = {at, graph_.cost(transfer)};
  const CostPart wire{Resource::wires, true, link.edge, link.wire_ns};
  v.last = {at, flits_ ? graph_.cost({transfer, wire}) : graph_.cost(wire)};
  v.here_ns = c.arrive_ns;
  v.by = &link;
}

// ---- at the memory

/// The request's header is there.
Cause RunGraphRecorder::at_memory(const FabricTransaction& x, Access& a) {
  const Cause& last = a.travellers.front().last;
  return links_serve_ ? last : then(last, way_parts(x, false));
}

void RunGraphRecorder::memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step,
                                      double t) {
  const auto it = accesses_.find(&x);
  if (it == accesses_.end()) return;
  Access& a = it->second;
  MemoryState& m = memories_[memory.index()];
  if (step == MemoryStep::finished) return finished(memory, x, a, t);
  if (step == MemoryStep::arrived || flits_ || a.queued != kNone) return;
  const Cause there = at_memory(x, a);
  const CostPart overhead{Resource::memory, false, memory.index(), memory.overhead_ns()};
  a.queued = graph_.add(t + overhead.ns, a.op, {then(there, {overhead}), {m.free, graph_.cost(overhead)}});
}

void RunGraphRecorder::channel_taken(const MemoryTarget& memory, const FabricTransaction& x, size_t number,
                                     double ready, double from, double to) {
  const auto it = accesses_.find(&x);
  if (it == accesses_.end()) return;
  std::vector<Moment>& channels = memories_[memory.index()].channels;
  if (channels.size() <= number) channels.resize(number + 1);
  Access& a = it->second;
  if (a.queued == kNone) {
    const CostPart overhead{Resource::memory, false, memory.index(), memory.overhead_ns()};
    a.queued = graph_.add(ready, a.op, {then(at_memory(x, a), {overhead})});
  }
  const Resource r =
      memory.index() < platform_.graph().nodes.size() && platform_.graph().nodes[memory.index()].space == "sram"
          ? Resource::sram
          : Resource::hbm;
  const CostPart held{r, false, memory.index(), to - from};
  const Cost cost = graph_.cost(held);
  std::vector<Cause> causes = {{a.queued, cost}, {channels[number], cost}};
  const size_t flit = a.served.size();
  if (flits_ && x.write && flit > 0 && flit < a.travellers.size())
    causes.push_back(then(a.travellers[flit].last, {held}));
  a.served.push_back(channels[number] = add(to, a.op, causes));
}

void RunGraphRecorder::finished(const MemoryTarget& memory, const FabricTransaction& x, Access& a, double t) {
  MemoryState& m = memories_[memory.index()];
  std::vector<Cause> causes;
  for (const Moment s : a.served) causes.push_back({s, 0});
  if (!flits_ && a.queued != kNone) {
    const Way& way = way_of(*x.route);
    if (!a.served.empty()) {
      with_bandwidths(causes, {a.queued, 0}, x.write ? way.write_inner : way.read_inner, static_cast<double>(x.nbytes));
    } else if (m.fifo) {
      with_bandwidths(causes, {a.queued, 0}, x.write ? way.write : way.read, static_cast<double>(x.nbytes));
    } else {
      causes.push_back(
          {a.queued, graph_.cost(CostPart{Resource::memory, false, memory.index(), t - graph_.ns(a.queued)})});
    }
  }
  a.finished = add(t, a.op, causes);
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
  std::vector<Cause> causes;
  if (flits_) {
    causes.push_back(then(a.travellers.front().last, {overhead}));
    if (a.travellers.size() > 1) causes.push_back(a.travellers.back().last);
    return add(t, a.op, causes);
  }
  const Cause header =
      links_serve_ ? then(a.travellers.front().last, {overhead}) : then(a.travellers.front().last, way_parts(x, true));
  if (x.write) return graph_.add(t, a.op, {header});
  const Way& way = way_of(*x.route);
  with_bandwidths(causes, header, a.served.empty() ? way.read : way.read_inner, static_cast<double>(x.nbytes));
  if (!a.served.empty()) causes.push_back(then({a.finished, 0}, way_parts(x, true)));
  return add(t, a.op, causes);
}

void RunGraphRecorder::access_done(const Component& initiator, const FabricTransaction& x, double t) {
  const auto it = accesses_.find(&x);
  if (it == accesses_.end()) return;
  Access& a = it->second;
  Moment done = came_back(initiator, x, a, t);
  if (graph_.ns(done) < t - kSameNs) done = graph_.add(t, a.op, {{done, 0}});
  last_access_[initiator.index()] = done;
  if (a.item) items_[a.item] = done;
  if (a.transfer) {
    Moment& last = transfers_[a.transfer];
    if (graph_.ns(done) >= graph_.ns(last)) last = done;
  }
  accesses_.erase(it);
}

void RunGraphRecorder::post_done(const Component&, const FabricTransaction& x, double t) {
  const auto it = accesses_.find(&x);
  if (it == accesses_.end()) return;
  const Access a = std::move(it->second);
  accesses_.erase(it);
  const auto segment = segments_.find(a.segment);
  if (segment == segments_.end()) return;
  const Cause& last = a.travellers.back().last;
  message_came(x, *a.segment, segment->second, links_serve_ ? last : then(last, way_parts(x, false)), t);
}

}  // namespace kernbench::insight
