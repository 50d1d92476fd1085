// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/fabric_initiator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/reduction.h"
#include "kernbench/systemc_models/fabric/wormhole_links.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::fabric {

const Route& FabricInitiator::route_of(const Access& a) {
  const Route* r = last_route_;
  const uint64_t span = a.span ? a.span : a.rows.ranges ? a.rows.first_bytes() : a.nbytes;
  if (r && a.address - r->base < r->size && span <= r->size - (a.address - r->base)) return *r;
  // An atomic needs a path back, like a read.
  r = &node_.fabric().routes().route(owner().index(), a.address, span, a.write && a.rows.atomic == AtomicKind::none);
  if (r->returns) last_route_ = r;  // a route without a path back serves only some transactions
  return *r;
}

/// A transaction that is granted now. `rank` orders grants of one instant: read 0, write 1, comm 2, credit 3.
FabricTransaction& FabricInitiator::acquire(const Route& route, uint8_t channel, uint64_t rank) {
  Fabric& fabric = node_.fabric();
  FabricTransaction& x = fabric.acquire();
  const double now = fabric.timeline().now_ns();
  x.route = &route;
  x.hops = route.hops.data();
  x.hop_count = static_cast<uint32_t>(route.hops.size());
  const std::vector<Hop>& back = route.way_back();
  x.back = back.data();
  x.back_count = static_cast<uint32_t>(back.size());
  x.node = x.carries_from[false] = x.carries_from[true] = 0;
  x.carries_to[false] = x.carries_to[true] = ~0u;
  x.reduction = nullptr;
  x.most_gbs = 0;
  x.rerouted = false;
  x.initiator = this;
  if (x.multicast) x.multicast.reset();
  x.channel = channel;
  x.grant_ns = now;
  x.overhead_ns = 0;
  x.wire_ns = x.drain_ns = x.store_forward_ns = x.link_queue_ns = x.memory_queue_ns = x.tail_ns = 0;
  x.covered_ns = x.queued_there_ns = x.own_service_ns = x.outside_ns = x.effect_ns = 0;
  x.memory_arrival = 0;
  x.went_outside = x.moved = false;
  x.served_whole = false;
  const uint64_t source = uint64_t{owner().index()} << 2 | rank;
  x.own_order = Order(Order::kArrivals, Timeline::to_fs(now), source << 32 | ++grants_);
  return x;
}

void FabricInitiator::fill(FabricTransaction& x, const Access& a) {
  x.context = a.context;
  x.write = a.write;
  x.address = a.address;
  x.nbytes = a.nbytes;
  x.rows = a.rows;
  x.mover = a.mover;
  x.issue_ns = a.issue_ns;
  if (x.hop_count > 0) x.overhead_ns = node_.begin_ns({x, false});  // a memory's own socket: its overhead counts once
  const bool empty = x.message && x.nbytes == 0;
  fill_payload(x.payload, empty ? tlm::TLM_IGNORE_COMMAND : command_of(x.write, &x.rows), x.address, x.nbytes, a.data,
               a.mover);
  x.time_ns = x.grant_ns + x.overhead_ns;
}

void FabricInitiator::send(FabricTransaction& x, const Access& a) {
  fill(x, a);
  if (const FabricObservers& o = node_.observers()) {
    x.message ? o->post_started(owner(), x, x.grant_ns) : o->access_started(owner(), x, x.grant_ns);
  }
  if (x.rows.posted && !x.message && !x.route->known)
    throw RunError(text_of(x) + ": a foreign block or memory on its path takes acknowledged writes only");
  if (x.is_atomic() && x.mover) show_atomic(x.payload, x.mover->foreign());
  if (timeout_ns_ > 0 && !x.message) watch(x);
  try {
    node_.fabric().mode().start(x);
  } catch (const TimeBeyondRange& e) {
    time_fault(x, e);
  }
}

void blame(const TimeBeyondRange& e, const FabricTransaction& x) {
  x.initiator->time_fault(x, e);
}

const char* name_of_access(const FabricTransaction& x) {
  if (x.message) return x.channel == FabricInitiator::kCredit ? "credit" : "message";
  return x.is_atomic() ? "atomic" : x.write ? "write" : "read";
}

std::string FabricInitiator::text_of(const FabricTransaction& x) const {
  const std::string op = op_of(x);
  return fmt::format("{}: {} of {} bytes at {:#x}{}", owner().id(), x.message ? "write" : name_of_access(x), x.nbytes,
                     x.address, op.empty() ? "" : ", " + op);
}

void FabricInitiator::time_fault(const FabricTransaction& x, const TimeBeyondRange& e) const {
  throw RunError(text_of(x) + ": " + e.what());
}

std::string FabricInitiator::answered_with_error(const FabricTransaction& x) const {
  const std::string op = op_of(x);
  return fmt::format("{}: {} of {} bytes at {:#x}{}{}: answered {}", owner().id(), name_of_access(x), x.nbytes,
                     x.address, x.route->target ? " of " + x.route->target->id() : "", op.empty() ? "" : ", " + op,
                     x.payload.get_response_string());
}

namespace {

/// An atomic whose response shows that no block has executed it: foreign blocks or memories do not support it (access
/// rules §17.4).
bool left_undone(const FabricTransaction& x) {
  if (!x.is_atomic()) return false;
  const AtomicExtension* e = atomic_of(x.payload);
  return e ? !e->done : x.memory_arrival == 0;
}

}  // namespace

void FabricInitiator::watch(FabricTransaction& x) {
  x.watched = ++watched_so_far_;
  watched_.push_back({&x, x.watched, x.grant_ns + timeout_ns_});
  if (watched_.size() == 1)
    node_.fabric().timeline().at(watched_.front().until_ns, Order(Order::kDepartures, ~0u, owner().index()),
                                 call<&FabricInitiator::time_out>(*this));
}

/// The oldest access has reached its timeout. The timeline has an entry only for an access in flight.
void FabricInitiator::time_out() {
  const double now = node_.fabric().timeline().now_ns();
  while (!watched_.empty() && ended(watched_.front())) watched_.pop_front();
  if (watched_.empty()) return;
  const Watched& oldest = watched_.front();
  if (Timeline::to_fs(oldest.until_ns) <= Timeline::to_fs(now)) not_answered(*oldest.transaction);
  node_.fabric().timeline().at(oldest.until_ns, Order(Order::kDepartures, ~0u, owner().index()),
                               call<&FabricInitiator::time_out>(*this));
}

void FabricInitiator::not_answered(const FabricTransaction& x) const {
  std::string where = "it is on its way";
  if (x.outside) {
    where = "it is in " + x.outside->foreign()->name();
  } else if (x.memory_arrival > 0) {
    where = "a memory has served it, or does";
  } else if (x.node < x.hop_count) {
    where = "it is at " + x.hops[x.node].out->node().owner().id() + ", or before it";
  }
  throw RunError(
      fmt::format("{}: not answered {} ns after its grant (timeout_ns): {}", text_of(x), timeout_ns_, where));
}

void FabricInitiator::transaction_failed(FabricTransaction&, const std::string& why) {
  SC_REPORT_ERROR("/kernbench/tlm", why.c_str());
}

/// Makes one transaction for each destination. Destinations behind one port travel as one message, that of the first of
/// them.
void FabricInitiator::start_multicast(const Access& a) {
  const auto m = std::make_shared<Multicast>(a.multicast->combined, node_.fabric());
  const uint64_t rank = node_.fabric().mode().links_serve() ? a.write : a.channel;
  for (const uint64_t address : a.multicast->addresses) {
    Access b = a;
    b.address = address;
    FabricTransaction& x = acquire(route_of(b), a.channel, rank);
    x.message = false;
    fill(x, b);
    x.multicast = m;
    m->add(x);
  }
  FabricTransaction& first = m->first();
  if (const FabricObservers& o = node_.observers()) o->access_started(owner(), first, first.grant_ns);
  if (timeout_ns_ > 0) watch(first);
  send(*m);
}

void FabricInitiator::send(Multicast& m) {
  FabricTransaction& first = m.first();
  try {
    // A copy, because the first may be the last to be sent.
    std::vector<FabricTransaction*> branches = m.fork(first);
    branches.insert(branches.begin(), &first);
    for (FabricTransaction* branch : branches) node_.fabric().mode().start(*branch);
  } catch (const TimeBeyondRange& e) {
    time_fault(first, e);
  }
}

void FabricInitiator::start(const Access& a) {
  if (a.multicast && a.multicast->addresses.size() > 1) return start_multicast(a);
  // Ideal links are not servers. There, messages count as coming from the initiator's channel itself, which keeps their
  // order.
  const uint64_t rank = node_.fabric().mode().links_serve() ? a.write : a.channel;
  FabricTransaction& x = acquire(route_of(a), a.channel, rank);
  x.message = false;
  if (a.reduction) a.reduction->join(x);
  send(x, a);
}

FabricTransaction& FabricInitiator::acquire(const Message& m, Access& a) {
  FabricTransaction& x = acquire(*m.route, m.channel, m.channel);
  x.message = true;
  x.end = m.end;
  a.write = true;
  a.nbytes = m.nbytes;
  a.rows = {1, m.nbytes, 0};
  a.rows.posted = true;
  a.issue_ns = x.grant_ns;
  a.context = m.context;
  return x;
}

void FabricInitiator::post(const Message& m) {
  Access a;
  FabricTransaction& x = acquire(m, a);
  send(x, a);
}

void FabricInitiator::post(const std::vector<Message>& messages) {
  std::vector<const Route*> routes;
  for (const Message& message : messages) routes.push_back(message.route);
  try {
    check_foreign_forks(routes, [](const ForeignNeighbour&) { return false; });
    if (node_.fabric().timing().finite_buffers) check_forks(node_.fabric(), routes, 0, messages.front().nbytes);
  } catch (const AccessError& e) {
    throw RunError(owner().id() + ": send_all: " + e.what());
  }
  const auto m = std::make_shared<Multicast>(false, node_.fabric());
  for (const Message& message : messages) {
    Access a;
    FabricTransaction& x = acquire(message, a);
    fill(x, a);
    x.multicast = m;
    m->add(x);
  }
  if (const FabricObservers& o = node_.observers())
    m->for_each([&](const FabricTransaction& x) { o->post_started(owner(), x, x.grant_ns); });
  send(*m);
}

void fill_payload(tlm::tlm_generic_payload& p, tlm::tlm_command command, uint64_t address, uint64_t nbytes,
                  const uint8_t* data, DataMover* mover) {
  p.set_command(command);
  p.set_address(address);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  const tlm::tlm_generic_payload* foreign = mover ? mover->foreign() : nullptr;
  if (foreign) {
    p.set_data_ptr(foreign->get_data_ptr());
    p.set_data_length(foreign->get_data_length());
    p.set_streaming_width(foreign->get_streaming_width());
    p.set_byte_enable_ptr(foreign->get_byte_enable_ptr());
    p.set_byte_enable_length(foreign->get_byte_enable_length());
  } else {
    const auto length = static_cast<unsigned>(std::min<uint64_t>(nbytes, std::numeric_limits<unsigned>::max()));
    p.set_data_ptr(const_cast<uint8_t*>(data));  // data of a write, which no block modifies
    p.set_data_length(length);
    p.set_streaming_width(length);
    p.set_byte_enable_ptr(nullptr);
    p.set_byte_enable_length(0);
  }
  p.set_dmi_allowed(false);
}

Order FabricInitiator::departure_order(FabricTransaction& x, const Link* first) {
  return departures_[x.channel].of(x.own_order, x.grant_ns, x.time_ns, first);
}

void FabricInitiator::response_back(FabricTransaction& x) {
  double header_ns = x.time_ns;
  if (node_.fabric().responses_travel() && x.hop_count > 0) {
    header_ns += node_.end_ns();
    x.overhead_ns += node_.end_ns();
  }
  // A wait for a link that overlaps with the memory's own wait is not counted twice (§4).
  const double covered = std::min(x.covered_ns, x.link_queue_ns - x.queued_there_ns);
  x.link_queue_ns -= covered;
  end_at(x, header_ns + (x.tail_ns - covered));
}

void FabricInitiator::end_at(FabricTransaction& x, double done_ns) {
  x.done_ns = done_ns;
  if (x.multicast && !x.multicast->ends(x)) return;
  FabricTransaction& whole = x.multicast ? x.multicast->first() : x;
  if (x.multicast) done_ns = x.multicast->done_ns();
  node_.fabric().timeline().at(done_ns, done_order(whole), call<&FabricInitiator::done>(*this, whole));
}

void FabricInitiator::done(FabricTransaction& x) {
  x.watched = 0;
  if (x.mover && x.mover->still_moves())
    return node_.fabric().timeline().at(x.done_ns, Order(Order::kDepartures, ~0u, ~0u),
                                        call<&FabricInitiator::done>(*this, x));
  x.multicast ? x.multicast->complete_account() : node_.fabric().mode().complete_account(x);
  if (node_.observers()) node_.observers()->access_done(owner(), x, x.done_ns);
  if (!x.mover || x.mover->of_an_op()) {
    const FabricTransaction* failed = nullptr;
    for_each_destination(x, [&](const FabricTransaction& d) {
      if (!failed && d.payload.get_response_status() < tlm::TLM_INCOMPLETE_RESPONSE) failed = &d;
    });
    if (failed) {
      transaction_failed(x, answered_with_error(*failed));
    } else if (left_undone(x)) {
      transaction_failed(x, answered_with_error(x) +
                                ", but not done; expected foreign blocks to pass the payload on with its extensions, "
                                "and a foreign memory to know AtomicExtension");
    }
  }
  if (x.is_atomic()) hide_atomic(x.payload);
  transaction_done(x);
  if (x.multicast) x.multicast->release_others();
  x.payload.release();
}

}  // namespace kernbench::fabric
