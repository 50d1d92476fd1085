// SPDX-License-Identifier: Apache-2.0
// Link modes in which a message is represented by its header (timing rules §2, §3): ideal and cut_through links. They
// differ only in the model of a link, which is a parameter, the Law. A Law has:
//
// - kServes: links are servers with waiting messages
// - take(): the message's next place on the link; adds the wait for it
// - source_in_turn(), in_turn(), request_in_turn(): no earlier message can arrive at the first link, at a later link,
//   or at the memory, so no wait is needed (ahead_of_time.h)
// - arrival_order(): order of requests that arrive at a memory at one instant
#pragma once

#include <utility>
#include <vector>

#include "kernbench/systemc_models/fabric/ahead_of_time.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/fabric/reduction.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::fabric {

template <class Law>
class HeaderLinks : public LinkMode {
 public:
  using LinkMode::LinkMode;

  bool links_serve() const override { return Law::kServes; }
  bool data_follow_header() const override { return true; }
  double bytes_on_link(double data_bytes) const override { return data_bytes + fabric_.header_bytes(data_bytes); }

  void start(FabricTransaction& x) override {
    if (x.hop_count == 0) return arrive(x, *x.route->target, nullptr);  // a foreign initiator directly at the memory
    Link& link = x.hops[0].out->link;
    if (law_.source_in_turn(x, link)) return leave_source(x);
    const Order order = x.initiator->departure_order(x, &link);
    ++link.waiting;
    timeline().at(x.time_ns, order, call<&HeaderLinks::source_turn>(*this, x));
  }

  tlm::tlm_sync_enum request_at_router(FabricTransaction& x, Router& router, FabricPort& in, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
    FabricPort& out = router.way_of(x, in);
    const double arrival = x.time_ns;
    if (x.reduction && x.reduction->meet_at(router)) {
      meet(x, router, in);
      return FabricPort::accepted(phase);
    }
    x.time_ns = pass_node(x, router, in, false);
    if (x.multicast) {
      for (FabricTransaction* branch : x.multicast->fork(x)) leave_fork(*branch, router, in, arrival);
      leave_fork(x, router, in, arrival);
      return FabricPort::accepted(phase);
    }
    if (!law_.in_turn(out.link, in.incoming())) {
      wait_for_turn(router, out, x, in.incoming(), arrival, call<&HeaderLinks::request_turn>(*this, x));
      return FabricPort::accepted(phase);
    }
    if (!request_on(x, out, delay) || !respond_on(x, out)) return FabricPort::accepted(phase);
    return fabric_.responses_travel() ? in.completed(x, delay) : tlm::TLM_COMPLETED;
  }

  tlm::tlm_sync_enum request_at_memory(FabricTransaction& x, MemoryTarget& memory, FabricPort& in,
                                       tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    x.note_way_in(in);
    if (!law_.request_in_turn(x, memory, in.incoming())) {
      arrive(x, memory, in.incoming());
      return FabricPort::accepted(phase);
    }
    if (!serve(x, memory)) return FabricPort::accepted(phase);
    if (!x.returns_elsewhere()) return in.completed(x, delay);
    pass_response(x);
    return FabricPort::accepted(phase);
  }

  bool message_comes(FabricTransaction& x, FabricPort& in) override {
    x.note_way_in(in);
    return true;
  }

  double message_drain_ns(const Route& r, uint64_t nbytes) const override {
    return r.write_bw > 0 ? static_cast<double>(nbytes) / r.write_bw : 0;
  }

  tlm::tlm_sync_enum response_at(FabricTransaction& x, FabricPort& out, tlm::tlm_phase&) override {
    response_came(x, out);
    return tlm::TLM_COMPLETED;
  }

  void answer(FabricTransaction& x, MemoryTarget& memory, const Service& s) override {
    if (leave_memory(x, memory, s)) pass_response(x);
  }

  void came_in(FabricTransaction& x, FabricPort& port, bool response) override {
    if (!response || fabric_.responses_travel()) x.time_ns = cross(x, port.foreign()->from, response);
    if (response) return response_came(x, port);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = timeline().delay_until(x.time_ns);
    if (port.node().request_in(x, port, phase, delay) == tlm::TLM_COMPLETED) port.respond(x);
  }

  ZeroLoad work_out(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows,
                    std::vector<ZeroLoadHop>* hops) const override;

 private:
  Timeline& timeline() const { return fabric_.timeline(); }
  /// Adds the node's cost; returns when the header that arrived by `in` at x.time_ns is ready to leave.
  static double pass_node(FabricTransaction& x, const Router& router, const FabricPort& in, bool response) {
    const NodeCost cost = router.cost_of(x, response, in);
    x.overhead_ns += cost.overhead_ns;
    x.store_forward_ns += cost.store_forward_ns;
    return x.time_ns + cost.overhead_ns + cost.store_forward_ns;
  }
  double bytes_of(const FabricTransaction& x, bool response) const {
    return HeaderLinks::bytes_on_link(static_cast<double>(x.data_bytes(response) + (response ? 0 : x.rows.list_bytes)));
  }
  /// Crosses the link; returns when the header is at the other end.
  double cross(FabricTransaction& x, Link& link, bool response) const {
    x.wire_ns += link.wire_ns;
    const auto take = [&] { return law_.take(link, x.time_ns, bytes_of(x, response), &x.link_queue_ns); };
    const double start = x.most_gbs > 0 ? link.at_most(std::exchange(x.most_gbs, 0), take) : take();
    if (link.observers) tell(x, link, response, start);
    return start + link.wire_ns;
  }
  [[gnu::noinline]] void tell(const FabricTransaction& x, const Link& link, bool response, double start) const {
    LinkCrossing c;
    c.response = response;
    c.bytes = bytes_of(x, response);
    c.ready_ns = x.time_ns;
    c.start_ns = start;
    c.end_ns = Law::kServes ? link.free_ns : start;
    c.arrive_ns = start + link.wire_ns;
    link.observers->link_crossed(x, link, c);
  }

  // Requests.
  void leave_source(FabricTransaction& x) {
    FabricPort& out = *x.hops[0].out;
    if (x.message) return post(x, out);
    if (request_on(x, out)) x.initiator->response_back(x);
  }
  /// The source is free when the data would have passed the slowest link.
  void post(FabricTransaction& x, FabricPort& out) {
    const double ready = x.time_ns;
    x.time_ns = cross(x, out.link, false);
    double drain_ns = 0;
    const auto drains = [&](const FabricTransaction& m) {
      drain_ns = std::max(drain_ns, message_drain_ns(*m.route, m.nbytes));
    };
    x.multicast ? x.multicast->for_each_carried(x, drains) : drains(x);
    x.initiator->message_left(x, ready + x.link_queue_ns + drain_ns);
    sc_core::sc_time delay = timeline().delay_until(x.time_ns);
    out.request(x, delay);
  }
  void source_turn(FabricTransaction& x) {
    --x.hops[0].out->link.waiting;
    leave_source(x);
  }
  /// Sends the request over the link to the neighbour; true: the response has returned.
  bool request_on(FabricTransaction& x, FabricPort& out, sc_core::sc_time& delay) {
    x.time_ns = cross(x, out.link, false);
    delay = timeline().delay_until(x.time_ns);
    return out.request(x, delay);
  }
  bool request_on(FabricTransaction& x, FabricPort& out) {
    sc_core::sc_time delay;
    return request_on(x, out, delay);
  }
  void request_turn(FabricTransaction& x) {
    FabricPort& out = *x.hops[x.node].out;
    if (request_on(x, out) && respond_on(x, out)) pass_response(x);
  }

  /// A message of a reduction arrives at a node that adds. The sum continues when all messages have arrived.
  void meet(FabricTransaction& x, Router& router, FabricPort& in) {
    const NodeCost cost = router.cost_of(x, false, in);
    const std::vector<Reduction::Arrival>* come =
        x.reduction->meet(router, 0, {&x, x.time_ns, x.time_ns + cost.store_forward_ns, in.incoming(), nullptr});
    if (!come) return;
    const Reduction::Arrival& last = come->back();
    const ReduceRules& rules = x.reduction->rules_at(router);
    FabricTransaction& sum = x.reduction->add_up(router, *come);
    const double at_node_ns = cost.overhead_ns + rules.reduce_ns, ready = last.here_ns + at_node_ns;
    sum.link_queue_ns += last.here_ns - cost.store_forward_ns - sum.time_ns;  // the wait for the others
    sum.overhead_ns += at_node_ns;
    sum.store_forward_ns += cost.store_forward_ns;
    sum.time_ns = ready;
    sum.most_gbs = rules.bw_gbs;
    wait_for_turn(router, *sum.hops[sum.node].out, sum, last.from, last.arrival_ns,
                  call<&HeaderLinks::request_turn>(*this, sum));
  }
  /// A branch of a multicast is ready at a router.
  void leave_fork(FabricTransaction& x, Router& router, FabricPort& in, double arrival) {
    FabricPort& out = *x.hops[x.node].out;
    if (law_.in_turn(out.link, in.incoming())) return request_turn(x);
    wait_for_turn(router, out, x, in.incoming(), arrival, call<&HeaderLinks::request_turn>(*this, x));
  }

  // Responses. A response that "goes on" has reserved its place on the link to node x.node and arrives there at
  // x.time_ns.
  void response_came(FabricTransaction& x, FabricPort& out) {
    if (x.node == 0) {
      x.initiator->response_back(x);
    } else if (respond_on(x, out)) {
      pass_response(x);
    }
  }
  /// A response that arrived by `out` continues; false: it must wait.
  bool respond_on(FabricTransaction& x, FabricPort& out) {
    if (!fabric_.responses_travel()) {
      --x.node;
      return true;
    }
    auto& router = static_cast<Router&>(out.node());
    FabricPort& in = *x.back[x.node - 1].in;
    const double arrival = x.time_ns;
    x.time_ns = pass_node(x, router, out, true);
    if (x.multicast && x.multicast->joins(x.node, out.node())) {
      Link* from = out.incoming();
      const Order order = from ? from->ready_order.of(x.own_order, arrival, x.time_ns, &in.link) : x.own_order;
      const Multicast::Joined last = x.multicast->join(out.node(), {&x, arrival, from, order, nullptr});
      if (last.x)
        router.wait_for_turn(
            in, {last.x->time_ns, last.order, call<&HeaderLinks::response_turn>(*this, *last.x), last.x, last.from});
      return false;
    }
    if (x.reduction) {
      std::vector<FabricTransaction*> all = x.reduction->branch(x, router);
      all.push_back(&x);
      for (FabricTransaction* y : all)
        wait_for_turn(router, *y->back[y->node - 1].in, *y, out.incoming(), arrival,
                      call<&HeaderLinks::response_turn>(*this, *y));
      return false;
    }
    if (!law_.in_turn(in.link, out.incoming())) {
      wait_for_turn(router, in, x, out.incoming(), arrival, call<&HeaderLinks::response_turn>(*this, x));
      return false;
    }
    take_link_back(x, in);
    return true;
  }
  void take_link_back(FabricTransaction& x, FabricPort& in) {
    x.time_ns = cross(x, in.link, true);
    --x.node;
  }
  void response_turn(FabricTransaction& x) {
    take_link_back(x, *x.back[x.node - 1].in);
    pass_response(x);
  }
  /// Passes the response to the neighbour at node x.node, or to the initiator at the end.
  void pass_response(FabricTransaction& x) {
    if (x.hop_count == 0) return x.initiator->response_back(x);
    x.back[x.node].in->respond(x);
  }

  // At the memory.
  void arrive(FabricTransaction& x, MemoryTarget& memory, Link* from) {
    memory.request_waits();
    timeline().at(x.time_ns, law_.arrival_order(x, memory, from), call<&HeaderLinks::memory_turn>(memory, x));
  }
  static void memory_turn(MemoryTarget& memory, FabricTransaction& x) {
    auto& me = static_cast<HeaderLinks&>(memory.fabric().mode());
    if (memory.limits_requests()) {
      const MemoryTarget::Taken taken = memory.take_request(x, x.time_ns);
      x.memory_queue_ns += taken.ns - x.time_ns;
      x.time_ns = taken.ns;
      if (!taken.at_once) return me.timeline().at(taken.ns, taken.order, call<&HeaderLinks::taken_turn>(memory, x));
    }
    taken_turn(memory, x);
  }
  static void taken_turn(MemoryTarget& memory, FabricTransaction& x) {
    auto& me = static_cast<HeaderLinks&>(memory.fabric().mode());
    memory.request_waits_no_longer();
    if (me.serve(x, memory)) me.pass_response(x);
  }
  /// True: the response continues.
  bool serve(FabricTransaction& x, MemoryTarget& memory) {
    x.memory_arrival = memory.next_arrival();
    const Service s = memory.begin_service(x);
    if (s.later) return false;
    if (x.mover && !x.is_atomic()) x.mover->served(x, s.header_leaves_ns);
    return leave_memory(x, memory, s);
  }
  bool leave_memory(FabricTransaction& x, MemoryTarget& memory, const Service& s) {
    const double leaves = x.write || !fabric_.responses_travel() ? s.finish_ns : s.header_leaves_ns;
    x.tail_ns = s.finish_ns - leaves;
    memory.tell_finished(x, s.finish_ns);
    if (x.reduction) {
      acknowledge(x, memory, s.finish_ns);
      return false;
    }
    x.served();
    if (x.rows.posted) {
      x.initiator->end_at(x, s.finish_ns);
      return false;
    }
    if (x.is_atomic()) {
      takes_effect(x, s.finish_ns);
      if (fabric_.responses_travel()) x.drain_ns += x.tail_ns = memory.old_bytes_ns(*x.route, x.rows, x.nbytes);
    } else if (s.stream_ns >= 0 && s.stream_ns < x.tail_ns) {
      x.covered_ns = x.tail_ns - s.stream_ns;
      x.queued_there_ns = x.link_queue_ns;
    }
    x.time_ns = leaves;
    if (x.hop_count == 0) return true;
    if (!fabric_.responses_travel()) {
      x.node = x.hop_count - 1;
      return true;
    }
    x.node = x.back_count;
    if (!Law::kServes || memory.departs_in_turn(x)) {
      take_link_back(x, *x.first_back().in);
      return true;
    }
    memory.response_waits();
    timeline().at(leaves, x.departure_order(), call<&HeaderLinks::departure_turn>(memory, x));
    return false;
  }
  /// The memory has finished a message of a reduction.
  void acknowledge(FabricTransaction& message, MemoryTarget& memory, double finish_ns) {
    Reduction& reduction = *message.reduction;
    FabricTransaction* x = reduction.served(message, finish_ns);
    if (!x) return;
    if (!fabric_.responses_travel()) {
      // A copy, because the last source's end may end the reduction.
      std::vector<FabricTransaction*> sources;
      reduction.for_each([&](FabricTransaction& s) { sources.push_back(&s); });
      for (FabricTransaction* s : sources) s->initiator->end_at(*s, reduction.finished_ns());
      return;
    }
    std::vector<FabricTransaction*> all = reduction.branch(*x, memory);
    all.push_back(x);
    for (FabricTransaction* y : all) {
      memory.response_waits();
      timeline().at(y->time_ns, y->departure_order(), call<&HeaderLinks::departure_turn>(memory, *y));
    }
  }
  /// Responses of one instant leave in the order of arrival of their transactions.
  static void departure_turn(MemoryTarget& memory, FabricTransaction& x) {
    auto& me = static_cast<HeaderLinks&>(memory.fabric().mode());
    memory.response_waits_no_longer();
    me.take_link_back(x, *x.first_back().in);
    me.pass_response(x);
  }

  void wait_for_turn(Router& router, FabricPort& next, FabricTransaction& x, Link* from, double arrival,
                     const TimedCall& turn) {
    const Order order = from ? from->ready_order.of(x.own_order, arrival, x.time_ns, &next.link) : x.own_order;
    router.wait_for_turn(next, {x.time_ns, order, turn, &x, from});
  }

  Law law_;
};

/// Zero-load latency of the transaction, hop by hop with the same functions; each kind of part is summed separately.
template <class Law>
ZeroLoad HeaderLinks<Law>::work_out(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows,
                                    std::vector<ZeroLoadHop>* hops) const {
  const auto crossing_ns = [&](const Link& link, bool response) {
    Link idle;
    idle.set({link.wire_ns, link.bw_gbs});
    double queued = 0;
    const uint64_t data = rows.data_bytes(write, response, nbytes) + (response ? 0 : rows.list_bytes);
    return law_.take(idle, 0, bytes_on_link(static_cast<double>(data)), &queued) + link.wire_ns;
  };
  double crossed_ns = 0;  // the link before the next node
  const auto add = [&](const FabricNode& node, uint32_t number, bool response, const NodeCost& cost) {
    if (!hops) return;
    ZeroLoadHop at;
    at.node = &node;
    at.number = number;
    at.response = response;
    at.arrive_ns = hops->empty() ? 0 : hops->back().leave_ns() + crossed_ns;
    at.overhead_ns = cost.overhead_ns;
    at.store_forward_ns = cost.store_forward_ns;
    hops->push_back(at);
  };
  const auto cross = [&](const PathHop& hop) {
    if (hops) hops->back().link = hop.link;
    return crossed_ns = crossing_ns(*hop.link, hop.response);
  };
  const PassingMessage request{write, false, address, nbytes, rows}, response{write, true, address, nbytes, rows};
  const bool travels = fabric_.responses_travel() && !rows.posted;
  NodeCost there, back;
  double wire = 0, wire_back = 0;
  for (const PathHop& hop : r.path(false)) {
    const NodeCost cost = hop.cost(request);
    there += cost;
    add(hop.node(), hop.number, false, cost);
    wire += cross(hop);
  }
  ZeroLoad zero;
  zero.service_ns = r.target->at_zero_load({r, write, address, nbytes, rows}).finish_ns;
  const double drain_ns = zero.service_ns - r.target->end_ns();
  add(*r.target, static_cast<uint32_t>(r.hops.size()), false, {r.target->end_ns(), 0});
  // Data of a routed read end their path at the initiator; all other data at the memory.
  const bool awaited = travels && !write;
  if (hops && !awaited) hops->back().drain_ns = drain_ns;
  for (const PathHop& hop : r.path(true)) {
    if (!travels) break;
    const NodeCost cost = hop.cost(response);
    back += cost;
    wire_back += cross(hop);
    add(hop.node(), hop.number, true, cost);
  }
  zero.store_forward_ns = there.store_forward_ns + back.store_forward_ns;
  zero.latency_ns = there.overhead_ns + wire + there.store_forward_ns + zero.service_ns;
  zero.latency_ns += back.overhead_ns + wire_back;
  zero.latency_ns += back.store_forward_ns;
  const double old_bytes_ns = travels ? r.target->old_bytes_ns(r, rows, nbytes) : 0;
  zero.latency_ns += old_bytes_ns;
  if (hops && awaited) hops->back().drain_ns = drain_ns;
  if (hops && old_bytes_ns > 0) hops->back().drain_ns = old_bytes_ns;
  return zero;
}

}  // namespace kernbench::fabric
