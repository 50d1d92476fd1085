// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_ipcq.h"

#include <algorithm>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/comm_channel.h"

namespace kernbench::pe {

PeIpcq::PeIpcq(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)), PeBlock(static_cast<Component&>(*this)), parameters_(parameters) {}

ImplSpec PeIpcq::spec() {
  return spec_of<Parameters>("builtin.pe_ipcq", "pe_ipcq", "a PE's message queues to and from other PEs")
      .overhead_is(Resource::queues)
      .leads_to({"pe_dma"});
}

void PeIpcq::leads_to(PePort& out, PeBlock& next) {
  if (dynamic_cast<CommSource*>(&next)) dma_ = &out;
}

void PeIpcq::open_ports(std::vector<QueuePort> ports, uint64_t launch) {
  launch_before_ = launch_;
  ports_before_ = std::move(ports_);
  launch_ = launch;
  ports_ = std::move(ports);
  traffic_.clear();
  traffic_.resize(ports_.size());
  for (size_t p = 0; p < ports_.size(); ++p) traffic_[p].free_slots = ports_[p].peer_ring.slots;
  last_chosen_.clear();
  choosing_ = nullptr;
  ready_ = {};
  open_ = true;
  started_ = false;
  find_queues();
  if (pe_->observer && !ports_.empty()) pe_->observer->ports_opened(*pe_, timeline().now_ns());
  for (uint32_t p = 0; p < ports_.size(); ++p) tell_port(p);
}

namespace {

/// ", sent by sip0.cube0.pe1 (kernel.cpp:12)"; `port`: null if it is no longer known.
std::string sent_by(const QueuePort* port, const QueueMessage& m) {
  const SourceLine where = m.desc ? m.desc->where : SourceLine{};
  return (port ? " on port " + port->name + ", sent by " + port->peer_pe : std::string(", sent")) +
         (where.line > 0 ? " (" + kernbench::to_string(where) + ")" : "");
}

/// Line of the kernel's call: "kernel.cpp:12: "; empty for a driver's call.
std::string line_of(const QueueCall& c) {
  return c.desc && c.desc->where.line > 0 ? kernbench::to_string(c.desc->where) + ": " : "";
}

}  // namespace

std::string PeIpcq::close_ports() {
  open_ = false;
  for (size_t p = 0; p < traffic_.size(); ++p) {
    if (traffic_[p].visible.empty()) continue;
    const QueueSegment& s = *traffic_[p].visible.front();
    return pe_->id + ": a message is left over: message " + std::to_string(s.message->number) +
           sent_by(&ports_[p], *s.message);
  }
  return {};
}

// ---- at the sockets

tlm::tlm_sync_enum PeIpcq::item_in(PeItem& item, PePort& in, tlm::tlm_phase& phase) {
  if (QueueSegment* s = item.segment) {
    &item == &s->arriving ? arrived(*s) : credit_back(*s);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  QueueCall& call = *item.command->queue_call;
  call.command = item.command;
  call.submitted_by = &in;
  call.launch = launch_;
  call.next = call.done = 0;
  stand(call);
  if (call.kind == QueueCall::Kind::send) return tlm::TLM_ACCEPTED;
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

tlm::tlm_sync_enum PeIpcq::answer_in(PeItem& item, PePort&, tlm::tlm_phase&) {
  released(*item.segment);
  return tlm::TLM_COMPLETED;
}

/// The call enters its port's list overhead_ns after its submission; a send also after its protocol's delay.
void PeIpcq::stand(QueueCall& c) {
  c.protocol_ns = parameters_.has_protocols() ? after_protocol_ns(c) : 0;
  timeline().at(timeline().now_ns() + overhead_ns() + c.protocol_ns, front_order(*pe_),
                call<&PeIpcq::stands>(*this, c));
}

Protocol PeIpcq::protocol_of(uint32_t port, uint64_t nbytes) const {
  return parameters_.protocol(ports_[port].protocol, nbytes);
}

/// Delay of a send by its protocol (§10.17); 0 for a receive.
double PeIpcq::after_protocol_ns(QueueCall& c) {
  const double now = timeline().now_ns();
  const uint32_t first = c.ports.empty() ? c.port : c.ports.front();
  if (!started_) started_ns_ = now + protocol_of(first, c.nbytes).start_ns;
  started_ = true;
  if (c.kind != QueueCall::Kind::send) return 0;
  double stands_ns = 0;
  c.more_messages.resize(c.ports.empty() ? 0 : c.ports.size() - 1);
  c.for_each_port([&](uint32_t p, const auto&) {
    const double own = std::max(now, started_ns_) + overhead_ns() + protocol_of(p, c.nbytes).message_ns;
    stands_ns = std::max({stands_ns, own, traffic_[p].stands_ns});
  });
  c.for_each_port([&](uint32_t p, const auto&) { traffic_[p].stands_ns = stands_ns; });
  return stands_ns - (now + overhead_ns());
}

void PeIpcq::stands(QueueCall& call) {
  if (call.launch != launch_) {
    if (call.kind == QueueCall::Kind::send) call.submitted_by->accept(call.command->item);
    return complete(call);
  }
  if (call.kind == QueueCall::Kind::send) {
    call.more_messages.resize(call.ports.empty() ? 0 : call.ports.size() - 1);
    const uint64_t segments = segments_of(call);
    call.for_each_port([&](uint32_t port, std::shared_ptr<QueueMessage>& message) {
      Traffic& t = traffic_[port];
      message = std::make_shared<QueueMessage>();
      message->nbytes = call.nbytes;
      if (parameters_.has_protocols()) message->protocol = protocol_of(port, call.nbytes);
      message->number = t.sent++;
      message->stands_ns = timeline().now_ns();
      message->desc = call.desc;
      message->value = call.value;
      message->segments.resize(segments);
      t.sends.push_back(&call);
    });
    call.value.reset();
    call.for_each_port([&](uint32_t port, const auto&) { take_slots(port); });
  } else if (call.kind == QueueCall::Kind::receive) {
    Traffic& t = traffic_[call.port];
    t.receives.push_back(&call);
    ++t.receiving;
    match(call.port);
  } else {
    for (const uint32_t port : call.ports) {
      if (traffic_[port].receiving > 0)
        return fail(call, told("recv_any", port) + "a receive of this port is outstanding");
    }
    choosing_ = &call;
    for (const uint32_t port : call.ports) note_no_message(port, true);
    choose_soon();
  }
}

void PeIpcq::complete(QueueCall& call) {
  call.command->done_ns = timeline().now_ns();
  if (pe_->observer) pe_->observer->command_complete(*pe_, *call.command, timeline().now_ns());
  call.submitted_by->complete(call.command->item);
}

void PeIpcq::fail(QueueCall& call, std::string what) {
  call.command->fault = std::move(what);
  complete(call);
}

std::string PeIpcq::told(const char* call, uint32_t port) const {
  return std::string(call) + " on " + ports_[port].name + ": ";
}

// ---- sending

/// The smallest slot size of its ports, in which the message is cut.
uint64_t PeIpcq::slot_bytes_of(QueueCall& call) const {
  uint64_t least = ~uint64_t{0};
  call.for_each_port([&](uint32_t p, const auto&) { least = std::min(least, ports_[p].peer_ring.slot_bytes); });
  return least;
}

uint64_t PeIpcq::segments_of(QueueCall& call) const {
  const uint64_t slot = slot_bytes_of(call);
  return call.nbytes == 0 ? 1 : (call.nbytes + slot - 1) / slot;
}

/// Whether its next segment is the first one at each of its ports, and each port has a free slot.
bool PeIpcq::has_slots(QueueCall& call) {
  bool all = true;
  call.for_each_port(
      [&](uint32_t p, const auto&) { all = all && traffic_[p].free_slots > 0 && traffic_[p].sends.front() == &call; });
  return all;
}

/// The port's first segments take the slots that are free according to the received credits.
void PeIpcq::take_slots(uint32_t port) {
  std::vector<uint32_t> more;  // ports to check afterwards
  for (;;) {
    Traffic& t = traffic_[port];
    while (!t.sends.empty() && has_slots(*t.sends.front())) {
      QueueCall& call = *t.sends.front();
      send_segment(call);
      if (call.next < call.message->segments.size()) continue;
      // The next send at its other ports may be the first now.
      call.for_each_port([&](uint32_t p, const auto&) {
        traffic_[p].sends.pop_front();
        if (p != port) more.push_back(p);
      });
      call.submitted_by->accept(call.command->item);
    }
    note_no_slot(port, !t.sends.empty());
    if (more.empty()) return;
    port = more.back();
    more.pop_back();
  }
}

void PeIpcq::send_segment(QueueCall& call) {
  const uint32_t index = call.next++;
  const uint64_t slot_bytes = slot_bytes_of(call);
  QueueSegment* first = nullptr;
  call.for_each_port([&](uint32_t p, const std::shared_ptr<QueueMessage>& message) {
    const QueuePort& port = ports_[p];
    --traffic_[p].free_slots;
    QueueSegment& s = take_segment();
    s.message = message;
    s.index = index;
    s.number = traffic_[p].segments++;
    s.sender_port = p;
    s.receiver_port = port.peer_port;
    s.offset = uint64_t{index} * slot_bytes;
    s.nbytes = std::min(call.nbytes - s.offset, slot_bytes);
    s.sent_by = &call;
    s.received_by = nullptr;
    s.route = port.route;
    s.receiver_dma = port.peer_dma;
    s.sender_dma = pe_->dma;
    s.seq = call.seq;
    s.launch = launch_;
    s.copies.clear();
    s.is_copy = first != nullptr;
    traffic_[p].in_slots.push_back(message->number);
    s.times().slot_ns = timeline().now_ns();
    s.account.call_ns = call.call_ns + overhead_ns() + call.protocol_ns;
    s.account.slot_wait_ns = s.times().slot_ns - message->stands_ns;
    if (pe_->observer) pe_->observer->slot_taken(*pe_, s, s.times().slot_ns);
    if (first) first->copies.push_back(&s);
    if (!first) first = &s;
  });
  dma_->send(first->outgoing);
}

/// vc_comm is free again.
void PeIpcq::released(QueueSegment& s) {
  QueueCall& call = *s.sent_by;
  const double grant = s.times().grant_ns;
  comm_.waits.add(s.times().slot_ns, grant);
  comm_.add(timeline().now_ns() - grant, s.nbytes);
  if (++call.done == call.message->segments.size()) complete(call);
}

/// The slot is free for this sender.
void PeIpcq::credit_back(QueueSegment& s) {
  s.times().credit_ns = timeline().now_ns();
  const uint32_t port = s.sender_port;
  const bool late = s.launch != launch_;
  recycle(s);
  if (late) return;
  ++traffic_[port].free_slots;
  traffic_[port].in_slots.pop_front();
  take_slots(port);
}

// ---- arrival

/// Inbound server and slot writer are in series. Their FIFOs have the same order, so both start times are known at
/// once.
void PeIpcq::arrived(QueueSegment& s) {
  if (left_over(s)) return;
  const double arrival = s.times().arrival_ns, drains = std::max(arrival, inbound_free_ns_);
  const double through = drains + s.drain_ns;
  inbound_free_ns_ = through;
  const QueueRing& ring = ports_[s.receiver_port].ring;
  s.write_start_ns = std::max(through, writer_free_ns_);
  s.slot_address = ring.slot_address(traffic_[s.receiver_port].written++);
  s.copy_op_id = s.message->desc ? begin_service(s.arriving) : 0;
  s.account.inbound_wait_ns = drains - arrival;
  s.account.writer_wait_ns = s.write_start_ns - through;
  s.account.slot_write_ns = ring.write.of(s.nbytes);
  const double visible = s.write_start_ns + s.account.slot_write_ns;
  writer_free_ns_ = visible;
  inbound_.waits.add(arrival, drains);
  writer_.waits.add(through, s.write_start_ns);
  inbound_.add(s.drain_ns, s.nbytes);
  writer_.add(visible - s.write_start_ns, s.nbytes);
  s.times().visible_ns = visible;
  tell_served(QueueServer::inbound, s, drains, through);
  tell_served(QueueServer::writer, s, s.write_start_ns, visible);
  timeline().at(visible, Order(Order::kVisible, pe_->order, 0), call<&PeIpcq::became_visible>(*this, s));
}

/// Whether the segment arrives after its receiver has ended.
bool PeIpcq::left_over(const QueueSegment& s) {
  if (open_ && s.launch == launch_) return false;
  if (!tell_left_over_ || discarded_.count(s.launch) > 0) return true;
  const std::vector<QueuePort>* ports = s.launch == launch_ ? &ports_ : &ports_before_;
  const bool known = s.launch == launch_ || s.launch == launch_before_;
  tell_left_over_(pe_->id + ": has ended, and message " + std::to_string(s.message->number) + " arrives" +
                  sent_by(known ? &ports->at(s.receiver_port) : nullptr, *s.message));
  return true;
}

void PeIpcq::became_visible(QueueSegment& s) {
  if (left_over(s)) return;
  write_slot(s);
  Traffic& t = traffic_[s.receiver_port];
  t.visible.push_back(&s);
  ++t.fill;
  if (!t.receives.empty()) {
    match(s.receiver_port);
  } else if (choosing_ && s.index == 0) {
    choose_soon();
  }
  tell_port(s.receiver_port);
}

// ---- receiving

/// Marks visible segments as ready if receives wait for them.
void PeIpcq::match(uint32_t port) {
  Traffic& t = traffic_[port];
  while (!t.visible.empty() && !t.receives.empty()) {
    QueueCall& call = *t.receives.front();
    QueueSegment& s = *t.visible.front();
    if (!claims(call, s)) break;
    t.visible.pop_front();
    if (++call.next == s.message->segments.size()) t.receives.pop_front();
    ready(s, call);
  }
  note_no_message(port, !t.receives.empty());
}

namespace {

/// "256 bytes (shape [64] f32)".
std::string shape_text(uint64_t nbytes, const TensorRef* tensor) {
  const std::string bytes = std::to_string(nbytes) + " bytes";
  return tensor ? bytes + " (shape " + tensor->shape.to_string() + " " + std::string(name_of(tensor->dtype)) + ")"
                : bytes;
}

bool alike(const TensorRef* a, const TensorRef* b) {
  return !a || !b ? a == b : a->shape == b->shape && a->dtype == b->dtype;
}

}  // namespace

/// A receive takes the next message when its first segment has arrived. Returns false if it is not the expected one.
bool PeIpcq::claims(QueueCall& call, QueueSegment& s) {
  if (call.message) return true;
  Traffic& t = traffic_[call.port];
  const TensorRef* expected = call.desc ? &call.desc->output : nullptr;
  const TensorRef* found = s.message->desc ? &s.message->desc->operands.front().ref : nullptr;
  if (call.nbytes != s.message->nbytes || !alike(expected, found)) {
    t.receives.pop_front();
    --t.receiving;
    fail(call, told("recv", call.port) + "expects " + shape_text(call.nbytes, expected) + "; message " +
                   std::to_string(s.message->number) + " of " + ports_[call.port].peer_pe + " has " +
                   shape_text(s.message->nbytes, found));
    return false;
  }
  call.message = s.message;
  call.reads.resize(s.message->segments.size());
  ++t.received;
  return true;
}

/// Runs after everything that becomes visible at this instant, because an empty message that arrives then is visible at
/// once.
void PeIpcq::choose_soon() {
  if (choice_due_) return;
  choice_due_ = true;
  timeline().at(timeline().now_ns(), Order(Order::kArbitration, Order::kLast, pe_->order),
                call<&PeIpcq::choose>(*this));
}

/// The first port with a message, round robin from the port after the last one.
void PeIpcq::choose() {
  choice_due_ = false;
  if (!choosing_) return;
  QueueCall& call = *choosing_;
  const auto& ports = call.ports;
  const auto last =
      std::find_if(ports.begin(), ports.end(), [&](uint32_t p) { return ports_[p].name == last_chosen_; });
  const size_t first = last == ports.end() ? 0 : static_cast<size_t>(last - ports.begin()) + 1;
  for (size_t i = 0; i < ports.size(); ++i) {
    const uint32_t port = ports[(first + i) % ports.size()];
    if (traffic_[port].visible.empty()) continue;
    choosing_ = nullptr;
    for (const uint32_t p : ports) note_no_message(p, false);
    last_chosen_ = ports_[port].name;
    call.port = port;
    traffic_[port].receives.push_back(&call);
    ++traffic_[port].receiving;
    return match(port);
  }
}

void PeIpcq::ready(QueueSegment& s, QueueCall& call) {
  s.received_by = &call;
  s.account.receive_wait_ns = timeline().now_ns() - s.times().visible_ns;
  ready_.push({&s, timeline().now_ns(), call.seq, nullptr});
  read_soon();
}

void PeIpcq::read_soon() {
  if (read_due_ || reading_.segment || ready_.empty()) return;
  read_due_ = true;
  timeline().at(timeline().now_ns(), queue_order(*pe_, QueueTurn::reader), call<&PeIpcq::read>(*this));
}

void PeIpcq::read() {
  read_due_ = false;
  if (ready_.empty()) return;  // its launch has ended
  reading_ = ready_.pop();
  read_start_ns_ = timeline().now_ns();
  QueueSegment& s = *reading_.segment;
  s.read_op_id = s.message->desc ? begin_service(s.arriving) : 0;
  reader_.waits.add(reading_.since_ns, read_start_ns_);
  s.account.reader_wait_ns = read_start_ns_ - reading_.since_ns;
  s.account.slot_read_ns = ports_[s.receiver_port].ring.read.of(s.nbytes);
  const double end = read_start_ns_ + s.account.slot_read_ns;
  tell_served(QueueServer::reader, s, read_start_ns_, end);
  timeline().at(end, front_order(*pe_), call<&PeIpcq::read_ended>(*this));
}

/// The slot is free, and its credit is sent.
void PeIpcq::read_ended() {
  QueueSegment& s = *reading_.segment;
  QueueCall& receive = *s.received_by;
  if (receive.launch != launch_) {
    reading_ = {};
    complete(receive);
    return read_soon();
  }
  receive.reads[s.index] = {reading_.since_ns, read_start_ns_, timeline().now_ns()};
  reading_ = {};
  ++receive.done;
  reader_.add(timeline().now_ns() - read_start_ns_, s.nbytes);
  read_slot(s);
  note_read(s);
  s.credit_route = ports_[s.receiver_port].credit_route;
  s.credit_bytes = parameters_.credit_bytes;
  const bool last = s.last(), waits_for_credit = last && parameters_.credit_blocks && receive.credit_blocks;
  if (waits_for_credit) {
    credit_.begin(timeline().now_ns());
    s.credited = call<&PeIpcq::credited>(*this, receive);
  } else {
    s.received_by = nullptr;
  }
  dma_->send(s.credit);
  if (last && !waits_for_credit) {
    --traffic_[receive.port].receiving;
    complete(receive);
  }
  read_soon();
}

/// The credit of its last segment has reached the sender.
void PeIpcq::credited(QueueCall& call) {
  if (call.launch != launch_) return complete(call);
  const double now = timeline().now_ns();
  credit_.end(now);
  if (pe_->observer) pe_->observer->queue_stall(*pe_, call.port, QueueStall::credit, call.reads.back().end_ns, now);
  --traffic_[call.port].receiving;
  complete(call);
}

// ---- segments

QueueSegment& PeIpcq::take_segment() {
  ++under_way_;
  QueueSegment* s = idle_;
  if (s) {
    idle_ = s->next_idle;
    return *s;
  }
  segments_.push_back(std::make_unique<QueueSegment>());
  s = segments_.back().get();
  for (PeItem* item : {&s->outgoing, &s->arriving, &s->credit, &s->credit_back}) item->segment = s;
  return *s;
}

void PeIpcq::recycle(QueueSegment& s) {
  --under_way_;
  s.message.reset();
  s.next_idle = idle_;
  idle_ = &s;
}

std::vector<QueueWait> PeIpcq::queue_waits() const {
  std::vector<QueueWait> waits;
  const auto nothing_sent = [&](const char* call, const QueueCall& c, uint32_t p) {
    waits.push_back({c.seq, ports_[p].peer_index, line_of(c) + told(call, p) + "nothing sent by " + ports_[p].peer_pe});
  };
  for (uint32_t p = 0; p < traffic_.size(); ++p) {
    const Traffic& t = traffic_[p];
    const QueuePort& port = ports_[p];
    for (uint32_t i = 0; i < t.sends.size(); ++i) {
      if (t.free_slots > 0) continue;  // a send_all that waits for another port's
      waits.push_back({t.sends[i]->seq, port.peer_index,
                       line_of(*t.sends[i]) + told("send", p) + "no free slot: " + port.peer_pe +
                           " has not received message " + std::to_string(t.in_slots.front()) + " of its port " +
                           port.peer_port_name});
    }
    for (uint32_t i = 0; i < t.receives.size(); ++i) nothing_sent("recv", *t.receives[i], p);
  }
  if (choosing_) {
    for (const uint32_t p : choosing_->ports) nothing_sent("recv_any", *choosing_, p);
  }
  return waits;
}

KERNBENCH_REGISTER_COMPONENT(PeIpcq)

}  // namespace kernbench::pe
