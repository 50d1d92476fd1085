// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/flit_links.h"

#include <unordered_set>

#include "kernbench/systemc_models/fabric/ahead_of_time.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/fabric/wormhole_links.h"

namespace kernbench::fabric {
namespace {

/// Order of a flit that `from` has brought to a node; null: a foreign block has.
Order order_behind(Link* from, const FabricTransaction& x, double arrival_ns, double ready_ns, const void* place) {
  return from ? from->ready_order.of(x.own_order, arrival_ns, ready_ns, place) : x.own_order;
}

}  // namespace

/// One flit for a complete message (requests without data, acknowledgements).
void FlitLinks::make_header(FabricTransaction& x, bool response) const {
  Flit* f = fabric_.acquire_flit();
  *f = Flit{};
  f->transaction = &x;
  f->bytes = fabric_.timing().header_bytes;
  f->last = true;
  f->response = response;
  f->order = x.own_order;
  x.flits.assign(1, f);
}

/// All data flits of the transaction, in the order of addresses or of its ranges. For a compare-and-swap, the expected
/// bytes precede the new ones.
void FlitLinks::make_data(FabricTransaction& x, bool response) const {
  x.flits.clear();
  const auto make = [&](uint64_t address, double bytes, bool header) {
    Flit* f = fabric_.acquire_flit();
    *f = Flit{};
    f->transaction = &x;
    f->address = address;
    f->bytes = bytes;
    f->header = header;
    f->index = f->ready_by = static_cast<uint32_t>(x.flits.size());
    f->response = response;
    f->order = x.own_order;
    x.flits.push_back(f);
  };
  for_each_flit_of_packets(x.address, x.rows, cuts(), make);
  if (!response && x.rows.atomic == AtomicKind::compare) for_each_flit_of_packets(x.address, x.rows, cuts(), make);
  x.flits.back()->last = true;
  x.flit_count = static_cast<uint32_t>(x.flits.size());
}

/// The request's flits, ready to leave the initiator.
void FlitLinks::make_request(FabricTransaction& x) const {
  x.streams.clear();
  x.ready_ns.resize(std::max(x.hop_count, x.back_count) + 1);
  x.write&& x.nbytes > 0 ? make_data(x, false) : make_header(x, false);
  x.flits.front()->list_bytes = static_cast<double>(x.rows.list_bytes);
  for (Flit* f : x.flits) f->time_ns = x.time_ns;
}

void FlitLinks::start(FabricTransaction& x) {
  make_request(x);
  if (x.hop_count == 0) {
    for (Flit* f : std::vector<Flit*>(x.flits)) at_memory({*f, 1}, *x.route->target, nullptr);
    return;
  }
  Link& link = x.hops[0].out->link;
  if (ahead_of_time::first_in_turn(x, link)) return send_message(x);
  const Order order = x.initiator->departure_order(x, &link);
  ++link.waiting;
  timeline().at(x.time_ns, order, call<&FlitLinks::source_turn>(*this, x));
}

void FlitLinks::source_turn(FabricTransaction& x) {
  --x.hops[0].out->link.waiting;
  send_message(x);
}

void FlitLinks::send_message(FabricTransaction& x) {
  go_on({*x.flits.front(), static_cast<uint32_t>(x.flits.size())});
  if (x.message) x.initiator->message_left(x, x.hops[0].out->link.free_ns);
}

tlm::tlm_sync_enum FlitLinks::request_at_router(FabricTransaction& x, Router& router, FabricPort& in,
                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
  Flit& f = *x.flit;
  if (f.index == 0) {
    x.node = f.node;
    router.way_of(x, in);
    if (x.ready_ns.size() <= x.hop_count) x.ready_ns.resize(x.hop_count + 1);
  }
  at_router({*x.flit, x.flits_together}, router, in.incoming());
  return phase == tlm::BEGIN_REQ ? FabricPort::accepted(phase) : tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum FlitLinks::request_at_memory(FabricTransaction& x, MemoryTarget& memory, FabricPort& in,
                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (x.flit->index == 0) {
    x.node = x.flit->node;
    x.note_way_in(in);
  }
  at_memory({*x.flit, x.flits_together}, memory, in.incoming());
  return phase == tlm::BEGIN_REQ ? FabricPort::accepted(phase) : tlm::TLM_ACCEPTED;
}

bool FlitLinks::message_comes(FabricTransaction& x, FabricPort& in) {
  if (x.flit->index == 0) {
    x.node = x.flit->node;
    x.note_way_in(in);
  }
  const FlitTrain train{*x.flit, x.flits_together};
  const Flit& end = train.last();
  x.time_ns = end.time_ns;
  const bool last = end.last;
  for (uint32_t i = 0; i < train.count; ++i) fabric_.release_flit(&train[i]);
  return last;
}

tlm::tlm_sync_enum FlitLinks::response_at(FabricTransaction& x, FabricPort& out, tlm::tlm_phase& phase) {
  const FlitTrain train{*x.flit, x.flits_together};
  const bool last = phase == tlm::BEGIN_RESP;
  if (x.flit->node > 0) {
    at_router(train, static_cast<Router&>(out.node()), out.incoming());
  } else {
    for (uint32_t i = 0; i < train.count; ++i) at_initiator(train[i]);
  }
  return last ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void FlitLinks::at_router(FlitTrain train, Router& router, Link* from) {
  const Flit& first = train.first;
  FabricTransaction& x = *first.transaction;
  if (x.multicast) return multicast_at_router(train, router, from);
  if (x.reduction && first.response) return acknowledgement_at_router(train.first, router, from);
  if (x.reduction && x.reduction->meet_at(router)) return reduction_at_router(train, router, from);
  FabricPort& next = next_port(first);
  if (router.stores_and_forwards() && x.has_data(first.response)) {
    for (uint32_t i = 0; i < train.count; ++i) hold(train[i], router, from, next);
    return;
  }
  const double overhead = router.delay_of({x, first.response});
  double& before = x.ready_ns[first.node];
  if (ahead_of_time::next_in_turn(next.link, from) && ahead_of_time::flits_keep_order(*from, overhead)) {
    for (uint32_t i = 0; i < train.count; ++i) {
      become_ready(train[i], overhead, before);
      leave(train[i], next.link);
    }
    return hand_on(train, next);
  }
  for (uint32_t i = 0; i < train.count; ++i) {
    Flit& f = train[i];
    const double arrival = f.time_ns;
    become_ready(f, overhead, before);
    f.order = order_behind(from, x, arrival, f.time_ns, &next.link);
    router.wait_for_turn(next, {f.time_ns, f.order, call<&FlitLinks::flit_turn>(*this, f), &x, from});
  }
}

/// The flits of a multicast, each ready at the same time for all branches; or its acknowledgement.
void FlitLinks::multicast_at_router(FlitTrain train, Router& router, Link* from) {
  FabricTransaction& x = *train.first.transaction;
  const double overhead = router.delay_of({x, train.first.response});
  if (train.first.response && x.multicast->joins(train.first.node, router)) {
    Flit& f = train.first;
    const double arrival = f.time_ns;
    become_ready(f, overhead, x.ready_ns[f.node]);
    const Order order = order_behind(from, x, arrival, f.time_ns, &next_port(f).link);
    const Multicast::Joined last = x.multicast->join(router, {&x, arrival, from, order, nullptr});
    if (last.absorbed) fabric_.release_flit(last.absorbed->flits.front());
    if (!last.x) return;
    Flit& on = *last.x->flits.front();
    on.order = last.order;
    return router.wait_for_turn(next_port(on),
                                {on.time_ns, on.order, call<&FlitLinks::flit_turn>(*this, on), last.x, last.from});
  }
  if (!train.first.response && train.first.index == 0) {
    for (FabricTransaction* branch : x.multicast->fork(x)) {
      branch->streams.clear();
      branch->ready_ns.assign(std::max(branch->hop_count, branch->back_count) + 1, 0);
      branch->flit_count = x.flit_count;
    }
  }
  const std::vector<FabricTransaction*> branches =
      train.first.response ? std::vector<FabricTransaction*>{} : x.multicast->branches(x, train.first.node);
  const auto clone = [&](const Flit& f, FabricTransaction& branch) {
    Flit* c = fabric_.acquire_flit();
    *c = f;
    c->transaction = &branch;
    c->address += branch.address - x.address;
    return c;
  };
  // A flit that leaves early may be served and reused before the next one is processed.
  std::vector<Flit*> flits;
  for (uint32_t i = 0; i < train.count; ++i) flits.push_back(&train[i]);
  for (Flit* flit : flits) {
    Flit& f = *flit;
    if (router.stores_and_forwards() && x.has_data(f.response)) {
      const bool last = f.last;
      const double arrival = f.time_ns;
      hold(f, router, from, next_port(f));
      for (FabricTransaction* b : branches) {
        if (!last) break;
        b->held.clear();
        for (const Flit* h : x.held) {
          b->held.push_back(clone(*h, *b));
          if (const FabricObservers& o = router.observers(); o && h->index > 0) o->branched(x, *b, h->index);
        }
        const double ready = arrival + overhead;
        FabricPort& next = next_port(*b->held.front());
        const Order order = order_behind(from, x, arrival, ready, &next.link);
        router.wait_for_turn(next, {ready, order, call<&FlitLinks::held_turn>(*this, *b), b, from});
      }
      continue;
    }
    const double arrival = f.time_ns;
    become_ready(f, overhead, x.ready_ns[f.node]);
    std::vector<Flit*> copies = {&f};
    for (FabricTransaction* b : branches) {
      copies.push_back(clone(f, *b));
      if (const FabricObservers& o = router.observers(); o && f.index > 0) o->branched(x, *b, f.index);
    }
    for (Flit* c : copies) {
      FabricPort& next = next_port(*c);
      if (ahead_of_time::next_in_turn(next.link, from) && ahead_of_time::flits_keep_order(*from, overhead)) {
        flit_turn(*c);
        continue;
      }
      c->order = order_behind(from, x, arrival, c->time_ns, &next.link);
      router.wait_for_turn(next, {c->time_ns, c->order, call<&FlitLinks::flit_turn>(*this, *c), c->transaction, from});
    }
  }
}

/// Flits of a reduction's message at a node that adds: the n-th flit of the sum leaves when the n-th flits of all
/// messages have arrived.
void FlitLinks::reduction_at_router(FlitTrain train, Router& router, Link* from) {
  Reduction& reduction = *train.first.transaction->reduction;
  // A flit that leaves may be reused before the loop reaches the next one.
  std::vector<Flit*> flits;
  for (uint32_t i = 0; i < train.count; ++i) flits.push_back(&train[i]);
  for (Flit* f : flits) {
    const Reduction::Arrival a{f->transaction, f->time_ns, f->time_ns, from, f};
    if (const auto* come = reduction.meet(router, f->index, a)) add_up_at_router(reduction, *come, router);
  }
}

void FlitLinks::add_up_at_router(Reduction& reduction, const std::vector<Reduction::Arrival>& come, Router& router) {
  const Reduction::Arrival& last = come.back();
  const ReduceRules& rules = reduction.rules_at(router);
  FabricTransaction& sum = reduction.add_up(router, come);
  Flit* on = nullptr;
  for (const Reduction::Arrival& a : come) {
    if (a.x == &sum) on = a.flit;
    if (a.x != &sum) fabric_.release_flit(a.flit);
  }
  Flit& f = *on;
  f.time_ns = last.arrival_ns;
  f.slowed = true;
  f.most_gbs = rules.bw_gbs;
  const double at_node_ns = router.delay_of({sum, false}) + rules.reduce_ns;
  FabricPort& next = next_port(f);
  if (router.stores_and_forwards()) {
    if (f.index == 0) sum.held.clear();
    sum.held.push_back(&f);
    if (!f.last) return;
    const double ready = f.time_ns + at_node_ns;
    const Order order = last.from->ready_order.of(sum.own_order, f.time_ns, ready, &next.link);
    for (Flit* h : sum.held) {
      h->time_ns = ready;
      h->ready_by = f.index;
    }
    return router.wait_for_turn(next, {ready, order, call<&FlitLinks::held_turn>(*this, sum), &sum, last.from});
  }
  become_ready(f, at_node_ns, sum.ready_ns[f.node]);
  f.order = last.from->ready_order.of(sum.own_order, last.arrival_ns, f.time_ns, &next.link);
  router.wait_for_turn(next, {f.time_ns, f.order, call<&FlitLinks::flit_turn>(*this, f), &sum, last.from});
}

/// The acknowledgement of a reduction forks towards its sources.
void FlitLinks::acknowledgement_at_router(Flit& f, Router& router, Link* from) {
  FabricTransaction& x = *f.transaction;
  const double arrival = f.time_ns;
  become_ready(f, router.delay_of({x, true}), x.ready_ns[f.node]);
  x.node = f.node;
  x.time_ns = f.time_ns;
  std::vector<Flit*> all = {&f};
  for (FabricTransaction* y : x.reduction->branch(x, router)) {
    make_header(*y, true);
    y->flits.front()->time_ns = f.time_ns;
    y->flits.front()->node = y->node;
    all.push_back(y->flits.front());
  }
  for (Flit* each : all) {
    FabricPort& next = next_port(*each);
    each->order = from->ready_order.of(each->transaction->own_order, arrival, each->time_ns, &next.link);
    router.wait_for_turn(
        next, {each->time_ns, each->order, call<&FlitLinks::flit_turn>(*this, *each), each->transaction, from});
  }
}

/// The memory has finished a message of a reduction.
void FlitLinks::acknowledge(FabricTransaction& message, MemoryTarget& memory, double finish_ns) {
  Reduction& reduction = *message.reduction;
  FabricTransaction* x = reduction.served(message, finish_ns);
  if (!x) return;
  std::vector<FabricTransaction*> all = reduction.branch(*x, memory);
  all.push_back(x);
  for (FabricTransaction* y : all) {
    make_header(*y, true);
    y->flits.front()->time_ns = reduction.finished_ns();
    leave_memory(*y, memory);
  }
}

/// Data continue only when all of them have arrived.
void FlitLinks::hold(Flit& f, Router& router, Link* from, FabricPort& next) {
  FabricTransaction& x = *f.transaction;
  if (f.index == 0) x.held.clear();
  x.held.push_back(&f);
  if (!f.last) return;
  const double ready = f.time_ns + router.delay_of({x, f.response});
  const Order order = order_behind(from, x, f.time_ns, ready, &next.link);
  for (Flit* h : x.held) {
    h->time_ns = ready;
    h->ready_by = f.index;
  }
  router.wait_for_turn(next, {ready, order, call<&FlitLinks::held_turn>(*this, x), &x, from});
}

void FlitLinks::held_turn(FabricTransaction& x) {
  // A copy, because the next node may also store and forward, and begins to hold flits while this one releases them.
  const std::vector<Flit*> held = x.held;
  for (Flit* f : held) flit_turn(*f);
}

void FlitLinks::at_memory(FlitTrain train, MemoryTarget& memory, Link* from) {
  FabricTransaction& x = *train.first.transaction;
  // serve() includes the overhead
  const double overhead = memory.flit_servers() ? memory.end_ns() : 0;
  const bool in_turn = ahead_of_time::next_in_turn(memory, from) && ahead_of_time::flits_keep_order(*from, overhead);
  double& before = x.ready_ns[train.first.node];
  // The last flit may trigger the response, which has its own flits.
  for (uint32_t i = 0, n = train.count; i < n; ++i) {
    Flit& f = train[i];
    const double arrival = f.time_ns;
    if (f.index == 0 && memory.limits_requests()) f.time_ns = memory.take_request(x, arrival).ns;
    become_ready(f, overhead, before);
    if (in_turn) {
      serve(f, memory);
      continue;
    }
    f.order = order_behind(from, x, arrival, f.time_ns, &memory);
    timeline().at(f.time_ns, f.order, call<&FlitLinks::memory_turn>(memory, f));
  }
}

void FlitLinks::memory_turn(MemoryTarget& memory, Flit& f) {
  static_cast<FlitLinks&>(memory.fabric().mode()).serve(f, memory);
}

void FlitLinks::serve(Flit& f, MemoryTarget& memory) {
  FabricTransaction& x = *f.transaction;
  if (f.index == 0) {
    x.memory_arrival = memory.next_arrival();
    x.flits_done = 0;
    x.tail_ns = 0;
  }
  if (!memory.flit_servers()) {
    x.time_ns = f.time_ns;
    x.bytes_known = f.index == 0 ? 0 : x.bytes_known;
    x.bytes_known += static_cast<uint64_t>(f.data_bytes());
    fabric_.release_flit(&f);
    if (!x.write || ++x.flits_done == x.flit_count) return serve_whole(x, memory);
    if (!x.is_atomic()) memory.data_comes(x, x.bytes_known);
    return;
  }
  if (const FabricObservers& o = memory.observers(); o && f.index == 0) {
    o->memory_request(memory, x, MemoryStep::arrived, f.time_ns);
    o->memory_request(memory, x, MemoryStep::started,
                      memory.flit_start_ns(!FlitUse(f, x.write, x.rows, x.flit_count).reads, f.address, f.time_ns));
  }
  x.write ? serve_write_flit(f, memory) : serve_read(f, memory);
}

/// A memory that serves complete transactions gets the request with its last flit.
void FlitLinks::serve_whole(FabricTransaction& x, MemoryTarget& memory) {
  x.flits.clear();
  const Service s = memory.begin_service(x);
  if (s.later) return;
  if (x.mover && !x.is_atomic()) x.mover->served(x, s.header_leaves_ns);
  answer(x, memory, s);
}

void FlitLinks::serve_write_flit(Flit& f, MemoryTarget& memory) {
  FabricTransaction& x = *f.transaction;
  x.tail_ns = std::max(x.tail_ns, memory.serve_flit(x, f, f.time_ns));  // end of its service
  const double ready = f.time_ns;
  fabric_.release_flit(&f);
  if (++x.flits_done < x.flit_count) return;
  memory.tell_finished(x, x.tail_ns);
  if (x.reduction) return acknowledge(x, memory, x.tail_ns);
  if (x.is_atomic()) {
    takes_effect(x, x.tail_ns);
  } else if (x.mover) {
    x.mover->served(x, ready);
  }
  answer_write(x, memory, x.tail_ns);
}

/// Responds with an acknowledgement, or with the old bytes of an atomic, which are all available at finish_ns.
void FlitLinks::answer_write(FabricTransaction& x, MemoryTarget& memory, double finish_ns) {
  if (x.rows.posted) {
    x.served();
    return x.initiator->end_at(x, finish_ns);
  }
  x.has_data(true) ? make_data(x, true) : make_header(x, true);
  for (Flit* f : x.flits) f->time_ns = finish_ns;
  leave_memory(x, memory);
}

void FlitLinks::serve_read(Flit& f, MemoryTarget& memory) {
  FabricTransaction& x = *f.transaction;
  const double asked = f.time_ns;
  if (x.mover) x.mover->served(x, asked);
  fabric_.release_flit(&f);
  make_data(x, true);
  double leaves = 0;
  for (Flit* r : x.flits) {
    leaves = std::max(leaves, memory.serve_flit(x, *r, asked));
    r->time_ns = leaves;
  }
  memory.tell_finished(x, leaves);
  leave_memory(x, memory);
}

void FlitLinks::answer(FabricTransaction& x, MemoryTarget& memory, const Service& s) {
  x.tail_ns = x.write ? 0 : s.finish_ns - s.header_leaves_ns;
  memory.tell_finished(x, s.finish_ns);
  if (!x.write && !x.flits.empty()) return;  // they are in flight
  if (x.reduction) return acknowledge(x, memory, s.finish_ns);
  if (x.is_atomic()) takes_effect(x, s.finish_ns);
  if (x.write) return answer_write(x, memory, s.finish_ns);
  make_data(x, true);
  double done = 0;
  for (Flit* f : x.flits) f->time_ns = leaves_evenly_ns(*f, done, x.nbytes, s);
  leave_memory(x, memory);
}

/// Flits whose bytes are complete leave now. While the time of the next one is unknown, the timeline has no entry.
void FlitLinks::data_came(FabricTransaction& x, uint64_t nbytes, double t_ns) {
  if (x.hop_count == 0) return;
  if (x.flits.empty()) {
    make_data(x, true);
    x.served();
    x.flits_done = x.flits_known = 0;
    x.bytes_known = 0;
  }
  const bool rests = x.flits_done == x.flits_known;
  const uint32_t before = x.flits_known;
  for (; x.flits_known < x.flit_count; ++x.flits_known) {
    Flit& f = *x.flits[x.flits_known];
    const auto end = x.bytes_known + static_cast<uint64_t>(f.data_bytes());
    if (end > nbytes) break;
    x.bytes_known = end;
    f.time_ns = t_ns;
  }
  if (rests && x.flits_known > before) known_flits_leave(x, t_ns);
}

void FlitLinks::known_flits_leave(FabricTransaction& x, double t_ns) {
  timeline().at(t_ns, x.departure_order(), call<&FlitLinks::departure_turn>(*this, x));
}

/// The response's flits leave at their times.
void FlitLinks::leave_memory(FabricTransaction& x, MemoryTarget& memory) {
  x.served();
  x.flit_count = x.flits_known = static_cast<uint32_t>(x.flits.size());
  x.flits_done = 0;
  if (x.hop_count == 0) {
    for (Flit* f : std::vector<Flit*>(x.flits)) at_initiator(*f);
    return;
  }
  // An edge without bandwidth takes no time. There, a write that came first may end together with a later read.
  if (memory.answers_in_order() && x.first_back().in->link.bw_gbs > 0 && x.last_hop().out->link.bw_gbs > 0) {
    for (Flit* f : x.flits) f->node = x.back_count;
    x.flits_done = x.flit_count;
    return go_on({*x.flits.front(), x.flit_count});
  }
  timeline().at(x.flits.front()->time_ns, x.departure_order(), call<&FlitLinks::departure_turn>(*this, x));
}

void FlitLinks::departure_turn(FabricTransaction& x) {
  if (x.flits_done + 1 < x.flits_known)
    timeline().at(x.flits[x.flits_done + 1]->time_ns, x.departure_order(), call<&FlitLinks::departure_turn>(*this, x));
  next_departs(x);
}

void FlitLinks::next_departs(FabricTransaction& x) {
  Flit& f = *x.flits[x.flits_done++];
  f.node = x.back_count;
  flit_turn(f);
}

void FlitLinks::at_initiator(Flit& f) {
  FabricTransaction& x = *f.transaction;
  become_ready(f, x.hop_count > 0 ? x.initiator->node().end_ns() : 0, x.ready_ns[0]);
  const double ready = f.time_ns;
  const bool last = f.last;
  fabric_.release_flit(&f);
  if (last) x.initiator->end_at(x, ready);
}

/// A message that a foreign block has passed continues in its flits. A message that begins at the foreign block is cut
/// into flits here.
void FlitLinks::came_in(FabricTransaction& x, FabricPort& port, bool response) {
  FlitStream* stream = nullptr;
  for (const auto& s : x.streams) {
    if (!s->to && s->response == response) stream = s.get();
  }
  if (!stream) {
    x.has_data(response) ? make_data(x, response) : make_header(x, response);
    for (Flit* f : std::vector<Flit*>(x.flits)) {
      f->time_ns = x.time_ns;
      f->node = x.node;
      enter(*f, port);
    }
    return;
  }
  stream->to = &port;
  stream->shift_ns = x.time_ns - stream->first_ns;
  if (!response && x.write) stream->shift_bytes = x.address - stream->waiting.front()->address;
  for (Flit* f : std::vector<Flit*>(std::move(stream->waiting))) {
    f->time_ns += stream->shift_ns;
    f->address += stream->shift_bytes;
    f->node = x.node;
    enter(*f, port);
  }
}

void FlitLinks::enter(Flit& f, FabricPort& port) {
  FabricTransaction& x = *f.transaction;
  cross(port.foreign()->from, f);
  x.flit = &f;
  x.flits_together = 1;
  sc_core::sc_time delay = timeline().delay_until(f.time_ns);
  if (f.response) {
    tlm::tlm_phase phase = f.last ? tlm::tlm_phase(tlm::BEGIN_RESP) : tlm::tlm_phase(FLIT);
    response_at(x, port, phase);
  } else {
    tlm::tlm_phase phase = f.index == 0 ? tlm::tlm_phase(tlm::BEGIN_REQ) : tlm::tlm_phase(FLIT);
    port.node().request_in(x, port, phase, delay);
  }
}

/// For an unknown path: the costs of the project's blocks and links on it, up to the block that answered.
void FlitLinks::account_past_foreign_blocks(FabricTransaction& x) const {
  const Route& r = *x.route;
  const PassingMessage request{x, false}, response{x, true};
  const bool whole = x.message || x.memory_arrival > 0 || !x.went_outside;
  x.overhead_ns = x.memory_arrival > 0 && r.target ? r.target->end_ns() : 0;
  x.wire_ns = x.store_forward_ns = x.drain_ns = 0;
  const Path there = r.path(false), back = r.path(true);
  for (uint32_t i = 0; i < there.size(); ++i) {
    const PathHop hop = there.at_node(i), answer = back.at_node(i);
    x.overhead_ns += hop.cost(request).overhead_ns;
    x.wire_ns += hop.wire_ns();
    if (!x.rows.posted) {
      x.overhead_ns += answer.cost(response).overhead_ns;
      x.wire_ns += answer.wire_ns();
    }
    if (!whole && hop.port->foreign()) return;
  }
}

/// In flit mode a message has no single wait. The time above the zero-load latency is queueing. The rest without
/// overhead, wires and store-and-forward is serialization latency. For a posted message, which ends at x.time_ns, that
/// includes store-and-forward.
void FlitLinks::complete_account(FabricTransaction& x) const {
  const Route& r = *x.route;
  const double latency_ns = (x.message ? x.time_ns : x.done_ns) - x.grant_ns;
  if (!r.known) {
    account_past_foreign_blocks(x);
    x.link_queue_ns = latency_ns - x.overhead_ns - x.wire_ns - x.memory_queue_ns - x.outside_ns;
    return;
  }
  const ZeroLoad zero = zero_load(r, x.write, x.address, x.nbytes, x.rows);
  NodeCost there, back;
  double wire = 0, wire_back = 0;
  const auto add = [&](const Path& path, bool response, NodeCost& cost, double& wire_ns) {
    const PassingMessage message{x, response};
    for (uint32_t i = 0; i < path.size(); ++i) {
      const PathHop hop = path.at_node(i);
      cost += hop.cost(message);
      wire_ns += hop.link->wire_ns;
    }
  };
  add(r.path(false), false, there, wire);
  if (!x.rows.posted) add(r.path(true), true, back, wire_back);
  x.overhead_ns = x.message ? there.overhead_ns : there.overhead_ns + back.overhead_ns + r.target->end_ns();
  x.wire_ns = wire + wire_back;
  x.store_forward_ns = x.message ? 0 : zero.store_forward_ns;
  x.drain_ns = zero.latency_ns - x.overhead_ns - x.wire_ns - x.store_forward_ns;
  x.link_queue_ns = latency_ns - zero.latency_ns;
  if (!x.served_whole) return;
  // A memory that serves complete requests has already counted its wait. If it took less time than at zero load (open
  // rows), the difference belongs to the data.
  x.drain_ns += std::min(x.link_queue_ns, 0.0);
  x.link_queue_ns = std::max(x.link_queue_ns, 0.0);
  x.memory_queue_ns = std::min(x.memory_queue_ns, x.link_queue_ns);
  x.link_queue_ns -= x.memory_queue_ns;
}

/// An initiator sends the flits of a message consecutively, and so does a memory that answers in order. They stay
/// consecutive as long as the links have no other senders.
void FlitLinks::senders_known(const std::vector<Link*>& links) const {
  const std::unordered_set<const void*> known(links.begin(), links.end());
  for (Link* link : links) {
    // Back to the link at the beginning of the chain.
    const Link* first = link;
    bool unmixed = true;
    for (size_t steps = 0; unmixed && known.count(first->sole_sender); ++steps) {
      unmixed = steps < links.size();
      first = static_cast<const Link*>(first->sole_sender);
    }
    link->unmixed = false;
    if (!unmixed || !first->sole_sender) continue;
    const auto* memory = dynamic_cast<const MemoryTarget*>(static_cast<const Component*>(first->sole_sender));
    link->unmixed = !memory || memory->answers_in_order();
  }
}

namespace {

LinkModeSpec flit() {
  LinkModeSpec s;
  s.name = "flit";
  s.help =
      "messages move in flits of timing.flit_bytes; each link is a FIFO server of flits; with buffer_flits, credits "
      "limit them";
  s.routed = s.cuts_data = s.has_buffers = true;
  s.make = [](Fabric& fabric) {
    return fabric.timing().finite_buffers ? make_link_mode<WormholeLinks>(fabric) : make_link_mode<FlitLinks>(fabric);
  };
  return s;
}

}  // namespace

KERNBENCH_REGISTER_LINK_MODE(flit())

}  // namespace kernbench::fabric
