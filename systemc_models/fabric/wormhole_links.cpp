// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/wormhole_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/fabric/multicast.h"

namespace kernbench::fabric {
namespace {

/// The port by which a flit came to node f.node.
FabricPort& port_of(const Flit& f) {
  const FabricTransaction& x = *f.transaction;
  return f.response ? *x.back[f.node].out : *x.hops[f.node - 1].in;
}

Router& router_of(const InputChannel& v) {
  return static_cast<Router&>(v.port.port.node());
}

MemoryTarget& memory_of(const InputChannel& v) {
  return static_cast<MemoryTarget&>(v.port.port.node());
}

PassingMessage passing(const Flit& f) {
  const FabricTransaction& x = *f.transaction;
  return {x, f.response};
}

}  // namespace

/// A foreign block gives no credits and accepts everything.
LinkOutput& WormholeLinks::output(FabricPort& port) {
  if (!port.link.output) port.link.output = &outputs_.emplace_back(*this, port);
  return *port.link.output;
}

InputPort& WormholeLinks::input(FabricPort& port) {
  return port.input ? *port.input : inputs_.emplace_back(port);
}

void WormholeLinks::start(FabricTransaction& x) {
  if (x.hop_count == 0) return FlitLinks::start(x);
  make_request(x);
  const Order order = x.initiator->departure_order(x, &x.hops[0].out->link);
  timeline().at(x.time_ns, order, call<&WormholeLinks::source_turn>(*this, x));
}

/// An initiator sends its messages one after another.
void WormholeLinks::source_turn(FabricTransaction& x) {
  FlitQueue& source = output(*x.hops[0].out).source;
  for (Flit* f : x.flits) {
    make_ready(*f);
    source.append(*f);
  }
  offer(source);
}

tlm::tlm_sync_enum WormholeLinks::request_at_router(FabricTransaction& x, Router& router, FabricPort& in,
                                                    tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase == CREDIT) {
    credit_comes(in, *x.credit);
    return tlm::TLM_ACCEPTED;
  }
  Flit& f = *x.flit;
  if (f.index == 0) {
    x.node = f.node;
    router.way_of(x, in);
  }
  at_router(f, router, in);
  return phase == tlm::BEGIN_REQ ? FabricPort::accepted(phase) : tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum WormholeLinks::request_at_memory(FabricTransaction& x, MemoryTarget& memory, FabricPort& in,
                                                    tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase == CREDIT) {
    credit_comes(in, *x.credit);
    return tlm::TLM_ACCEPTED;
  }
  Flit& f = *x.flit;
  if (f.index == 0) {
    x.node = f.node;
    x.note_way_in(in);
  }
  InputPort& port = input(in);
  port.append(f);
  const double arrival = f.time_ns;
  if (f.index == 0 && memory.limits_requests()) f.time_ns = memory.take_request(x, arrival).ns;
  become_ready(f, memory.flit_servers() ? memory.end_ns() : 0, x.ready_ns[f.node]);
  f.order = port.ready_order.of(x.own_order, arrival, f.time_ns, &memory);
  timeline().at(f.time_ns, f.order, call<&WormholeLinks::memory_turn>(*this, f));
  return phase == tlm::BEGIN_REQ ? FabricPort::accepted(phase) : tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum WormholeLinks::response_at(FabricTransaction& x, FabricPort& out, tlm::tlm_phase& phase) {
  if (phase == CREDIT) {
    credit_comes(out, *x.credit);
    return tlm::TLM_ACCEPTED;
  }
  Flit& f = *x.flit;
  const bool last = phase == tlm::BEGIN_RESP;
  if (f.node == 0) {
    at_end(f, out);
  } else {
    at_router(f, static_cast<Router&>(out.node()), out);
  }
  return last ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void WormholeLinks::at_router(Flit& f, Router& router, FabricPort& in) {
  FabricTransaction& x = *f.transaction;
  if (x.multicast && f.response && x.multicast->joins(f.node, router)) return join(f, router, in);
  if (x.reduction && !f.response && x.reduction->meet_at(router)) return add_up(f, router, in);
  InputPort& port = input(in);
  InputChannel& v = port.append(f);
  if (x.reduction && f.response) return acknowledgement_at_router(f, router, v);
  if (x.multicast && !f.response) {
    if (Fork* fork = fork_of(f, v)) return at_fork(f, router, *fork);
  }
  const double arrival = f.time_ns, overhead = router.delay_of(passing(f));
  const Link& next = next_port(f).link;
  if (router.stores_and_forwards() && x.has_data(f.response)) {
    // Before all departures of the instant.
    timeline().at(arrival, port.order, call<&WormholeLinks::stored_turn>(*this, f));
    if (!f.last) return;
    f.order = port.ready_order.of(x.own_order, arrival, arrival + overhead, &next);
    if (v.first->transaction == &x && !v.first->branch) forward_at(arrival + overhead, v, f);
    return;
  }
  become_ready(f, overhead, x.ready_ns[f.node]);
  f.order = port.ready_order.of(x.own_order, arrival, f.time_ns, &next);
  timeline().at(f.time_ns, f.order, call<&WormholeLinks::ready_turn>(*this, f));
}

/// The fork of a message that leaves by several links; null if it leaves by one.
Fork* WormholeLinks::fork_of(Flit& f, InputChannel& v) {
  FabricTransaction& x = *f.transaction;
  if (f.index == 0) {
    const std::vector<FabricTransaction*> others = x.multicast->fork(x);
    if (others.empty()) return nullptr;
    fork_into(others, x, v);
  }
  return !v.forks.empty() && v.forks.back().comes ? &v.forks.back() : nullptr;
}

/// The message x goes on as itself and as others, each over another link.
Fork& WormholeLinks::fork_into(const std::vector<FabricTransaction*>& others, FabricTransaction& x, InputChannel& v) {
  Fork& fork = v.forks.emplace_back(v);
  fork.branches.reserve(others.size() + 1);
  fork.branches.emplace_back(fork, x);
  for (FabricTransaction* branch : others) {
    branch->streams.clear();
    branch->ready_ns.assign(std::max(branch->hop_count, branch->back_count) + 1, 0);
    branch->flit_count = x.flit_count;
    fork.branches.emplace_back(fork, *branch);
  }
  for (Branch& b : fork.branches) {
    b.rank = v.rank;
    b.edge = v.edge;
  }
  return fork;
}

/// A flit of a reduction's message at a node that adds, whose buffers have no limit: the n-th flit of the sum becomes
/// ready when the n-th flits of all messages have arrived. Those of the others end here.
void WormholeLinks::add_up(Flit& f, Router& router, FabricPort& in) {
  FabricTransaction& x = *f.transaction;
  Reduction& reduction = *x.reduction;
  input(in).append(f);
  f.state = Flit::State::joins;
  const auto* come = reduction.meet(router, f.index, {&x, f.time_ns, f.time_ns, in.incoming(), &f});
  if (!come) return;
  const ReduceRules& rules = reduction.rules_at(router);
  FabricTransaction& sum = reduction.add_up(router, *come);
  InputPort& last_port = come->back().flit->at->port;
  const double arrival = come->back().arrival_ns;
  Flit* on = nullptr;
  for (const Reduction::Arrival& a : *come) {
    if (a.x == &sum) {
      on = a.flit;
      continue;
    }
    InputChannel& v = *a.flit->at;
    v.port.remove(v, *a.flit);
    fabric_.release_flit(a.flit);
  }
  on->state = Flit::State::coming;
  on->time_ns = arrival;
  on->slowed = true;
  on->most_gbs = rules.bw_gbs;
  const double at_node_ns = router.delay_of({sum, false}) + rules.reduce_ns;
  const Link& next = next_port(*on).link;
  if (router.stores_and_forwards()) {
    timeline().at(arrival, last_port.order, call<&WormholeLinks::stored_turn>(*this, *on));
    if (!on->last) return;
    on->order = last_port.ready_order.of(sum.own_order, arrival, arrival + at_node_ns, &next);
    return forward_at(arrival + at_node_ns, *on->at, *on);
  }
  become_ready(*on, at_node_ns, sum.ready_ns[on->node]);
  on->order = last_port.ready_order.of(sum.own_order, arrival, on->time_ns, &next);
  timeline().at(on->time_ns, on->order, call<&WormholeLinks::ready_turn>(*this, *on));
}

/// The acknowledgement of a reduction, one flit, forks towards its sources.
void WormholeLinks::acknowledgement_at_router(Flit& f, Router& router, InputChannel& v) {
  FabricTransaction& x = *f.transaction;
  const double arrival = f.time_ns;
  become_ready(f, router.delay_of(passing(f)), x.ready_ns[f.node]);
  x.node = f.node;
  x.time_ns = f.time_ns;
  const std::vector<FabricTransaction*> others = x.reduction->branch(x, router);
  if (!others.empty()) return copy_to_branches(f, router, fork_into(others, x, v), arrival);
  f.order = v.port.ready_order.of(x.own_order, arrival, f.time_ns, &next_port(f).link);
  timeline().at(f.time_ns, f.order, call<&WormholeLinks::ready_turn>(*this, f));
}

/// Each branch gets a copy, which becomes ready as the flit would at a node that is no fork.
void WormholeLinks::at_fork(Flit& f, Router& router, Fork& fork) {
  FabricTransaction& x = *f.transaction;
  const double arrival = f.time_ns;
  if (!router.stores_and_forwards()) become_ready(f, router.delay_of(passing(f)), x.ready_ns[f.node]);
  copy_to_branches(f, router, fork, arrival);
}

void WormholeLinks::copy_to_branches(Flit& f, Router& router, Fork& fork, double arrival) {
  FabricTransaction& x = *f.transaction;
  InputChannel& v = fork.input;
  const bool stores = router.stores_and_forwards() && x.has_data(f.response);
  const double ready = arrival + router.delay_of(passing(f));
  f.branch = &fork.branches.front();
  fork.comes = !f.last;
  for (Branch& b : fork.branches) {
    Flit& c = *fabric_.acquire_flit();
    c = f;
    c.transaction = &b.transaction;
    c.address += b.transaction.address - x.address;
    if (f.response) c.node = b.transaction.node;
    c.branch = &b;
    b.append(c);
    if (const FabricObservers& o = router.observers(); o && f.index > 0 && &b != &fork.branches.front())
      o->branched(x, b.transaction, f.index);
    if (stores && !f.last) continue;
    c.order = v.port.ready_order.of(x.own_order, arrival, stores ? ready : f.time_ns, &next_port(c).link);
    if (!stores) timeline().at(c.time_ns, c.order, call<&WormholeLinks::ready_turn>(*this, c));
  }
  if (!stores) return;
  timeline().at(arrival, v.port.order, call<&WormholeLinks::stored_turn>(*this, f));
  if (f.last && v.first->branch == f.branch) forward_at(ready, v, f);
}

/// The branch has taken a flit. The flit leaves the buffer when the slowest branch has taken it.
void WormholeLinks::taken(Branch& b) {
  ++b.taken;
  for (const Branch& o : b.fork.branches) {
    if (o.taken < b.taken) return;
  }
  InputChannel& v = b.fork.input;
  Flit& f = *v.first;
  f.transaction = &b.transaction;  // that of another branch may have ended
  if (f.response) f.node = b.transaction.node;
  leave_input(v);
  fabric_.release_flit(&f);
}

void WormholeLinks::leave_branch(Branch& b, bool last) {
  InputChannel& v = b.fork.input;
  if (!last) return advance(v);
  for (const Branch& o : b.fork.branches) {
    if (o.taken < b.taken) return;
  }
  v.forks.pop_front();
  advance(v);
}

/// The last acknowledgement represents all from here on. The others leave their buffers when they arrive.
void WormholeLinks::join(Flit& f, Router& router, FabricPort& in) {
  FabricTransaction& x = *f.transaction;
  InputPort& port = input(in);
  InputChannel& v = port.append(f);
  const double arrival = f.time_ns, overhead = router.delay_of(passing(f));
  f.state = Flit::State::joins;
  f.order = port.ready_order.of(x.own_order, arrival, arrival + overhead, &next_port(f).link);
  const Multicast::Joined last = x.multicast->join(router, {&x, arrival, in.incoming(), f.order, nullptr});
  // Over links without delay an acknowledgement may arrive after joined_turn() of its instant.
  Flit* on = !last.x ? nullptr : last.x->flits.empty() ? &f : last.x->flits.front();
  const FabricTransaction* absorbed = last.absorbed;
  if (absorbed && !absorbed->flits.empty() && absorbed->flits.front() != on) absorb(*absorbed->flits.front());
  // At the end of the instant, because others may still arrive in it.
  if (!on)
    return timeline().at(arrival, Order(Order::kArbitration, Order::kLast, 0),
                         call<&WormholeLinks::joined_turn>(*this, v));
  on->state = Flit::State::coming;
  become_ready(*on, overhead, on->transaction->ready_ns[on->node]);
  timeline().at(on->time_ns, on->order, call<&WormholeLinks::ready_turn>(*this, *on));
}

/// The acknowledgements that have arrived here end here: the last one is still missing.
void WormholeLinks::joined_turn(InputChannel& v) {
  const uint64_t now = Timeline::to_fs(timeline().now_ns());
  std::vector<Flit*> come;
  for (Flit* f = v.first; f; f = f->behind) {
    if (f->state == Flit::State::joins && Timeline::to_fs(f->time_ns) <= now) come.push_back(f);
  }
  for (Flit* f : come) absorb(*f);
}

/// The acknowledgement ends here. It leaves its buffer when it arrives, which may be later than now.
void WormholeLinks::absorb(Flit& f) {
  InputChannel& v = *f.at;
  give_credit(v, *f.transaction, port_of(f), true, std::max(f.time_ns, timeline().now_ns()));
  v.port.remove(v, f);
  f.transaction->flits.clear();
  fabric_.release_flit(&f);
  advance(v);
}

/// A response is back at its initiator, which takes it at once unless it shares a buffer with others.
void WormholeLinks::at_end(Flit& f, FabricPort& in) {
  InputPort& port = input(in);
  if (!port.limited()) return at_initiator(f);
  port.append(f);
  timeline().at(f.time_ns, f.transaction->own_order, call<&WormholeLinks::ready_turn>(*this, f));
}

void WormholeLinks::ready_turn(Flit& f) {
  make_ready(f);
  if (f.branch || f.at->first == &f) advance(*f.at);
}

void WormholeLinks::stored_turn(Flit& f) {
  f.state = Flit::State::here;
  if (f.at->first->state == Flit::State::here) store(*f.at);
}

/// A store-and-forward node moves the flits of the first message out of the buffer as they arrive. When it has the last
/// flit, they leave. Later flits wait in the buffer until then.
void WormholeLinks::store(InputChannel& v) {
  const FabricTransaction* message = v.first->transaction;
  for (Flit* f = v.stored ? v.last_stored->behind : v.first;
       f && f->transaction == message && f->state == Flit::State::here; f = f->behind) {
    ++v.stored;
    v.last_stored = f;
    give_credit(v, *f->transaction, port_of(*f), f->response, timeline().now_ns());
    if (!f->last) continue;
    if (!v.forwards) forward_at(std::max(f->time_ns, timeline().now_ns()) + router_of(v).delay_of(passing(*f)), v, *f);
    return;
  }
}

/// Sets the departure of the first message, whose last flit this is. If the time is known before the flit arrives, the
/// timeline entry is made at once. Ties are then resolved like without buffers.
void WormholeLinks::forward_at(double ready_ns, InputChannel& v, Flit& last) {
  v.forwards = true;
  if (last.branch) {
    for (Branch& b : last.branch->fork.branches)
      timeline().at(ready_ns, b.last->order, call<&WormholeLinks::forward_turn>(*this, *b.last));
    return;
  }
  timeline().at(ready_ns, last.order, call<&WormholeLinks::forward_turn>(*this, last));
}

void WormholeLinks::forward_turn(Flit& last) {
  InputChannel& v = *last.at;
  v.forwards = false;
  const double ready = timeline().now_ns();
  for (Flit* f = last.branch ? last.branch->first : v.first;; f = f->behind) {
    make_ready(*f);
    f->time_ns = ready;
    f->ready_by = last.index;
    if (f == &last) break;
  }
  for (Flit* f = v.first; last.branch && f; f = f->last ? nullptr : f->behind) f->state = Flit::State::ready;
  advance(v);
}

/// Handles the first flits of an input as far as possible.
void WormholeLinks::advance(InputChannel& v) {
  while (Flit* f = v.first) {
    if (f->state == Flit::State::here) return store(v);
    if (f->branch) {
      for (Branch& b : f->branch->fork.branches) {
        if (b.first && b.first->state == Flit::State::ready) offer(b);
      }
      return;
    }
    if (f->state != Flit::State::ready) return;
    if (!f->response || f->node > 0) return offer(v);
    f->time_ns = std::max(f->time_ns, timeline().now_ns());
    leave_input(v);
    at_initiator(*f);
  }
}

void WormholeLinks::offer(FlitQueue& q) {
  if (q.offered || !q.first) return;
  q.offered = true;
  LinkOutput& o = output(next_port(*q.first));
  o.offer(q);
  ask(o);
}

/// A flit may be able to take the link. After a credit, this is decided when all credits of the instant have arrived.
void WormholeLinks::ask(LinkOutput& o, bool by_credit) {
  if (o.asked || o.offers().empty()) return;
  o.asked = true;
  const double now = timeline().now_ns();
  if (o.at_arrival() && !by_credit && Timeline::to_fs(o.link.free_ns) <= Timeline::to_fs(now)) return allocate(o);
  timeline().at(std::max(now, o.link.free_ns), o.order(), call<&WormholeLinks::allocate>(*this, o));
}

/// The link is free. If no flit can take it, a credit or the next offer triggers this again.
void WormholeLinks::allocate(LinkOutput& o) {
  FlitQueue* q = o.choose();
  if (q) send(o, *q);
  o.asked = false;
  if (q) ask(o);
}

void WormholeLinks::send(LinkOutput& o, FlitQueue& q) {
  Flit& f = *q.first;
  FabricTransaction& x = *f.transaction;
  FabricPort& port = next_port(f);
  o.take(q);
  const bool last = f.last;
  if (q.place == FlitQueue::Place::input) {
    leave_input(static_cast<InputChannel&>(q));
  } else {
    q.pop();
    if (q.place == FlitQueue::Place::branch) taken(static_cast<Branch&>(q));
    f.branch = nullptr;
  }
  try {
    cross(o.link, f, timeline().now_ns());
    f.node = f.response ? f.node - 1 : f.node + 1;
    f.state = Flit::State::coming;
    port.hand_on({f, 1}, timeline().delay_until(f.time_ns));
  } catch (const TimeBeyondRange& e) {
    x.initiator->time_fault(x, e);
  }
  switch (q.place) {
    case FlitQueue::Place::initiator:
      if (last && x.message) x.initiator->message_left(x, o.link.free_ns);
      return offer(q);
    case FlitQueue::Place::input:
      return advance(static_cast<InputChannel&>(q));
    case FlitQueue::Place::branch:
      return leave_branch(static_cast<Branch&>(q), last);
    case FlitQueue::Place::memory:
      return leave_outlet(static_cast<ResponseQueue&>(q), last);
  }
}

/// Removes the first flit from the buffer, or from the store, whose buffer space was already returned.
void WormholeLinks::leave_input(InputChannel& v) {
  Flit& f = *v.first;
  if (v.stored > 0) {
    --v.stored;
  } else {
    give_credit(v, *f.transaction, port_of(f), f.response, timeline().now_ns());
  }
  v.port.pop(v);
}

void WormholeLinks::leave_outlet(ResponseQueue& q, bool last) {
  Outlet& outlet = *q.outlet;
  --outlet.waiting;
  if (last) {
    q.output->release_response(q);
  } else {
    offer(q);
  }
  for (InputChannel* v : std::vector<InputChannel*>(std::move(outlet.stalled))) take(*v);
}

/// Room in the channel, for the sender; `in`: by which the flit has come that was there.
void WormholeLinks::give_credit(const InputChannel& v, FabricTransaction& x, FabricPort& in, bool response,
                                double at_ns) {
  if (!v.port.limited()) return;
  in.give_back({v.number, v.message_class, at_ns + v.port.wire_ns}, x, response);
}

void WormholeLinks::credit_comes(FabricPort& port, const Credit& c) {
  LinkOutput& o = *port.link.output;
  timeline().at(c.time_ns, o.credit_order(),
                call<&WormholeLinks::credit_turn>(o, o.channel(c.message_class, c.channel)));
}

void WormholeLinks::credit_turn(LinkOutput& o, OutputChannel& v) {
  ++v.room;
  o.mode.ask(o, true);
}

void WormholeLinks::memory_turn(Flit& f) {
  make_ready(f);
  if (f.at->first == &f) take(*f.at);
}

/// The memory takes the first flits of an input when they are ready. With a limited buffer, a flit leaves it when its
/// server begins with it. A flit that makes a response leaves only if the outlet has space.
void WormholeLinks::take(InputChannel& v) {
  MemoryTarget& memory = memory_of(v);
  while (v.first && v.first->state == Flit::State::ready && !v.serving) {
    Flit& f = *v.first;
    FabricTransaction& x = *f.transaction;
    FabricPort& in = port_of(f);
    const double now = timeline().now_ns();
    if (v.port.limited() && f.last && !x.rows.posted) {
      Outlet& outlet = outlets_[&memory];
      if (outlet.waiting >= v.port.buffers.flits) return outlet.stalled.push_back(&v);
    }
    const double comes = f.time_ns = std::max(f.time_ns, now);
    double begins = now;
    if (memory.flit_servers()) {
      const bool writes_first = !FlitUse(f, x.write, x.rows, x.flit_count).reads;
      begins = memory.flit_start_ns(writes_first, x.write ? f.address : x.address, f.time_ns);
    }
    const bool whole = f.last && !memory.flit_servers();
    v.port.pop(v);
    serve(f, memory);
    if (whole) begins = x.reduction ? comes + x.reduction->waited_ns(x) : x.time_ns + x.memory_queue_ns;
    if (!v.port.limited() || Timeline::to_fs(begins) <= Timeline::to_fs(now)) {
      give_credit(v, x, in, false, timeline().now_ns());
      continue;
    }
    v.serving = &x;
    timeline().at(begins, v.port.order, call<&WormholeLinks::served_turn>(*this, v));
  }
}

void WormholeLinks::served_turn(InputChannel& v) {
  FabricTransaction& x = *v.serving;
  v.serving = nullptr;
  give_credit(v, x, *x.last_hop().in, false, timeline().now_ns());
  take(v);
}

void WormholeLinks::leave_memory(FabricTransaction& x, MemoryTarget& memory) {
  if (x.hop_count == 0) return FlitLinks::leave_memory(x, memory);
  x.served();
  x.flit_count = x.flits_known = static_cast<uint32_t>(x.flits.size());
  x.flits_done = 0;
  timeline().at(x.flits.front()->time_ns, x.departure_order(),
                call<&WormholeLinks::departure_turn>(acquire_response(x, memory), x));
}

ResponseQueue& WormholeLinks::acquire_response(FabricTransaction& x, MemoryTarget& memory) {
  ResponseQueue& q = output(*x.first_back().in).acquire_response();
  q.rank = x.memory_arrival;
  q.outlet = &outlets_[&memory];
  return q;
}

void WormholeLinks::known_flits_leave(FabricTransaction& x, double t_ns) {
  ResponseQueue*& q = coming_[&x];
  if (!q) q = &acquire_response(x, static_cast<MemoryTarget&>(x.first_back().in->node()));
  timeline().at(t_ns, x.departure_order(), call<&WormholeLinks::departure_turn>(*q, x));
}

void WormholeLinks::departure_turn(ResponseQueue& q, FabricTransaction& x) {
  WormholeLinks& me = q.output->mode;
  Flit& f = *x.flits[x.flits_done++];
  if (x.flits_done < x.flits_known) {
    me.timeline().at(x.flits[x.flits_done]->time_ns, x.departure_order(), call<&WormholeLinks::departure_turn>(q, x));
  } else if (x.flits_done == x.flit_count) {
    me.coming_.erase(&x);
  }
  f.node = x.back_count;
  me.make_ready(f);
  q.append(f);
  ++q.outlet->waiting;
  me.offer(q);
}

void check_forks(const Fabric& fabric, const std::vector<const Route*>& routes, uint64_t address, uint64_t nbytes) {
  const FabricTiming& t = fabric.timing();
  const uint64_t flits = count_flits(address, nbytes, {t.flit_bytes, t.packet_flits, t.header_bytes});
  std::map<const FabricNode*, const FabricPort*> leaves_by;
  for (const Route* r : routes) {
    for (size_t i = 1; i < r->hops.size(); ++i) {  // the initiator has no buffer
      const FabricPort* out = r->hops[i].out;
      const FabricNode& node = out->node();
      const uint32_t room = node.input_buffers().flits;
      const auto [at, added] = leaves_by.emplace(&node, out);
      if (added || at->second == out || room == 0 || room >= flits) continue;
      throw AccessError(fmt::format(
          "found {} flits that part at {}, whose buffer_flits is {}; expected a message that fits whole into a buffer "
          "of each fork",
          flits, node.owner().id(), room));
    }
  }
}

}  // namespace kernbench::fabric
