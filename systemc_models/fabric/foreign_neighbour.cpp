// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/socket_message.h"
#include "kernbench/systemc_models/protocol/multicast_extension.h"

namespace kernbench::fabric {

/// A b_transport that waits for its response.
struct ForeignNeighbour::Blocking {
  sc_core::sc_event done;
  bool complete = false;
};

/// The payload of a posted message at a foreign block.
class ForeignNeighbour::Envelope : public tlm::tlm_extension<Envelope> {
 public:
  explicit Envelope(tlm::tlm_mm_interface* pool) : payload(pool) { payload.set_extension(this); }
  ~Envelope() override {
    empty();
    payload.clear_extension(this);
  }
  tlm::tlm_extension_base* clone() const override { return nullptr; }
  void copy_from(const tlm::tlm_extension_base&) override {}

  void hold(FabricTransaction& x) {
    const tlm::tlm_generic_payload& p = x.payload;
    passed_on = false;
    what = x.initiator->owner().id() + ": a message of " + std::to_string(x.nbytes) + " bytes";
    bytes_.assign(p.get_data_length(), 0);
    x.initiator->message_bytes(x, bytes_.data());
    payload.set_command(p.get_command());
    payload.set_address(p.get_address());
    payload.set_data_ptr(bytes_.data());
    payload.set_data_length(p.get_data_length());
    payload.set_streaming_width(p.get_data_length());
    payload.set_byte_enable_ptr(nullptr);
    payload.set_byte_enable_length(0);
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload.set_extension(&x);
  }
  /// The message now belongs to another object.
  void empty() { payload.clear_extension<FabricTransaction>(); }

  tlm::tlm_generic_payload payload;
  bool passed_on = false;
  std::string what;  ///< for messages

 private:
  std::vector<uint8_t> bytes_;
};

namespace {

std::string multicast_text(const FabricTransaction& x) {
  return fmt::format("{}: a multicast of {} bytes to {}: ", x.initiator->owner().id(), x.nbytes,
                     address_text(x.address));
}

}  // namespace

ForeignNeighbour::ForeignNeighbour(FabricPort& port)
    : port_(port),
      timeline_(port.node().fabric().timeline()),
      requests_(timeline_, port.node().owner().index(), *this),
      responses_(timeline_, port.node().owner().index(), *this) {}

ForeignNeighbour::~ForeignNeighbour() = default;

// ---- out

void ForeignNeighbour::send_request(FabricTransaction& x) {
  ++x.node;
  timeline_.at(x.time_ns, x.own_order, call<&ForeignNeighbour::deliver_request>(*this, x));
}

void ForeignNeighbour::deliver_request(FabricTransaction& x) {
  leave(x);
  if (x.message) return requests_.send(envelope_of(x).payload);
  attach_data(x);
  if (x.multicast) attach_destinations(x);
  requests_.send(x.payload);
}

/// The destinations that the payload of a multicast goes to from here on.
void ForeignNeighbour::attach_destinations(FabricTransaction& x) {
  auto* e = x.payload.get_extension<protocol::MulticastExtension>();
  if (!e) x.payload.set_auto_extension(e = new protocol::MulticastExtension);
  e->combined = x.multicast->combined();
  e->destinations.clear();
  x.multicast->for_each_carried(x, [&](const FabricTransaction& m) { e->destinations.push_back(m.address); });
}

ForeignNeighbour::Envelope& ForeignNeighbour::envelope_of(FabricTransaction& x) {
  if (idle_envelopes_.empty()) {
    tlm::tlm_mm_interface* pool = this;
    envelopes_.push_back(std::make_unique<Envelope>(pool));
    idle_envelopes_.push_back(envelopes_.back().get());
  }
  Envelope& e = *idle_envelopes_.back();
  idle_envelopes_.pop_back();
  e.payload.acquire();
  e.hold(x);
  return e;
}

void ForeignNeighbour::free(tlm::tlm_generic_payload* payload) {
  auto* e = payload->get_extension<Envelope>();
  e->empty();
  payload->reset();  // extensions that foreign blocks have left
  idle_envelopes_.push_back(e);
}

void ForeignNeighbour::send_response(FabricTransaction& x) {
  timeline_.at(x.time_ns, x.own_order, call<&ForeignNeighbour::deliver_response>(*this, x));
}

void ForeignNeighbour::deliver_response(FabricTransaction& x) {
  if (!x.multicast || x.message) {
    leave(x);
    return send_back(x.payload);
  }
  FabricTransaction* whole = x.multicast->gather(x, port_);
  // An acknowledgement is one flit. The one that comes out of the block is new.
  for (const auto& s : x.streams) {
    if (!s->response || s->to) continue;
    for (Flit* f : std::exchange(s->waiting, {})) port_.node().fabric().release_flit(f);
    s->to = &port_;
  }
  if (!whole) return;
  leave(*whole);
  send_back(whole->payload);
}

/// With the transport that the foreign block used: b_transport or nb_transport.
void ForeignNeighbour::send_back(tlm::tlm_generic_payload& p) {
  const auto it = blocking_.find(&p);
  if (it == blocking_.end()) return responses_.send(p);
  it->second->complete = true;
  it->second->done.notify();
}

void ForeignNeighbour::send_request(SocketMessage& m) {
  timeline_.at(m.time_ns(), SocketMessage::order(), call<&ForeignNeighbour::deliver_message>(*this, m));
}

void ForeignNeighbour::deliver_message(SocketMessage& m) {
  leave(m);
  requests_.send(m.payload);
}

void ForeignNeighbour::send_response(SocketMessage& m) {
  timeline_.at(m.time_ns(), SocketMessage::order(), call<&ForeignNeighbour::deliver_answer>(*this, m));
}

void ForeignNeighbour::deliver_answer(SocketMessage& m) {
  leave(m);
  send_back(m.payload);
}

void ForeignNeighbour::leave(SocketMessage& m) {
  m.show_data();
  m.leave(timeline_.stamp());
}

void ForeignNeighbour::send_flit(Flit& f) {
  FabricTransaction& x = *f.transaction;
  x.went_outside = true;
  if (f.index == 0) {
    auto stream = std::make_unique<FlitStream>();
    stream->from = &port_;
    stream->response = f.response;
    stream->first_ns = f.time_ns;
    stream->waiting.push_back(&f);
    x.streams.push_back(std::move(stream));
    x.node = f.node;
    x.time_ns = f.time_ns;
    timeline_.at(f.time_ns, x.own_order,
                 f.response ? call<&ForeignNeighbour::deliver_response>(*this, x)
                            : call<&ForeignNeighbour::deliver_request>(*this, x));
    return;
  }
  for (const auto& s : x.streams) {
    if (s->from != &port_ || s->response != f.response) continue;
    if (s->answered) {
      if (!f.last) return port_.node().fabric().release_flit(&f);
      x.time_ns = std::max(x.time_ns, f.time_ns);
      port_.node().fabric().release_flit(&f);
      timeline_.at(x.time_ns, x.own_order, call<&ForeignNeighbour::answered>(*this, x));
      return;
    }
    if (!s->to) {
      s->waiting.push_back(&f);
      return;
    }
    f.time_ns += s->shift_ns;
    f.address += s->shift_bytes;
    port_.node().fabric().mode().flit_came_in(f, *s->to);
    return;
  }
}

/// From here on, time passes in the foreign block.
void ForeignNeighbour::leave(FabricTransaction& x) {
  x.outside_tick = timeline_.stamp();
  x.outside = &port_;
  x.went_outside = true;
}

// ---- in

/// The message returns at `at_ns`. Its exact time advances by the ticks that have passed.
void ForeignNeighbour::come_back(FabricTransaction& x, uint64_t tick) {
  x.outside = nullptr;
  if (tick <= x.outside_tick) return;
  const double outside = timeline_.ns_of(tick - x.outside_tick);
  x.time_ns += outside;
  x.outside_ns += outside;
}

tlm::tlm_sync_enum ForeignNeighbour::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  auto* x = p.get_extension<FabricTransaction>();
  auto* m = p.get_extension<SocketMessage>();
  if (!x && !m) {
    tlm::tlm_fw_transport_if<>* entry = this->entry();
    if (entry) return entry->nb_transport_fw(p, phase, delay);
    return port_.node().other_request_in(p, port_, phase, delay);
  }
  if (phase == tlm::END_RESP) {
    responses_.end_response(p, delay);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  if (x && !x->outside) {
    const std::string what = fmt::format("{}: BEGIN_REQ of a payload that it does not have: a {} of {} bytes at {:#x}",
                                         name(), x->write ? "write" : "read", p.get_data_length(), p.get_address());
    SC_REPORT_ERROR("/kernbench/tlm", what.c_str());
    return FabricPort::accepted(phase);
  }
  const uint64_t tick = timeline_.stamp() + requests_.in_cycles(delay).value();
  if (x) {
    request_at(p, tick);
  } else {
    message_at(*m, tick);
  }
  return FabricPort::accepted(phase);
}

void ForeignNeighbour::request_at(tlm::tlm_generic_payload& p, uint64_t tick) {
  auto& x = *p.get_extension<FabricTransaction>();
  come_back(x, tick);
  timeline_.at(x.time_ns, x.own_order, call<&ForeignNeighbour::request_came>(*this, p));
}

void ForeignNeighbour::request_came(tlm::tlm_generic_payload& p) {
  auto& x = *p.get_extension<FabricTransaction>();
  const bool message = x.message;
  if (x.multicast && !message) {
    if (p.get_address() != x.address)
      throw RunError(multicast_text(x) + name() + " has changed its address; expected payloads of its own for other " +
                     "destinations");
    x.multicast->left_to_block(x, &port_);
    x.multicast->came_in(x, port_);
  }
  if (!message && p.get_address() != x.address) {
    x.head_for(p.get_address(), port_);
  } else {
    x.note_way_in(port_);
  }
  if (auto* e = p.get_extension<Envelope>()) e->passed_on = true;
  port_.node().fabric().mode().came_in(x, port_, false);
  if (!message) return;
  p.set_response_status(tlm::TLM_OK_RESPONSE);  // no other block sets it
  send_back(p);
}

void ForeignNeighbour::message_at(SocketMessage& m, uint64_t tick) {
  m.come_back(tick, timeline_);
  timeline_.at(m.time_ns(), SocketMessage::order(), call<&ForeignNeighbour::message_came>(*this, m));
}

void ForeignNeighbour::message_came(SocketMessage& m) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  port_.node().other_request_in(m.payload, port_, phase, delay);
}

tlm::tlm_sync_enum ForeignNeighbour::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  return requests_.nb_transport_bw(p, phase, delay);
}

void ForeignNeighbour::responded(tlm::tlm_generic_payload& p) {
  if (auto* m = p.get_extension<SocketMessage>()) {
    m->come_back(timeline_.tick_now(), timeline_);
    if (!m->answered()) m->answered_outside(port_);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    port_.node().other_response_in(p, port_, phase, delay);
    return;
  }
  if (const auto* e = p.get_extension<Envelope>()) {
    if (!e->passed_on || p.is_response_error())
      throw RunError(e->what + ": " + name() + " answered it " + p.get_response_string() +
                     (e->passed_on ? "" : " and did not pass it on") +
                     "; expected messages between PEs to be passed on");
    return p.release();
  }
  auto& x = *p.get_extension<FabricTransaction>();
  come_back(x, timeline_.tick_now());
  x.address = p.get_address();  // as sent, regardless of changes behind the block
  // With flits: if the block answers itself before all data arrived, the remaining data still arrive, and its response
  // begins after them.
  for (const auto& s : x.streams) {
    if (s->from != &port_ || s->response || s->to) continue;
    const bool all_here = s->waiting.back()->last;
    for (Flit* f : s->waiting) port_.node().fabric().release_flit(f);
    s->waiting.clear();
    s->to = &port_;
    s->answered = !all_here;
    if (!all_here) return;
  }
  answered(x);
}

/// The response has arrived, and nothing of the request is outstanding.
void ForeignNeighbour::answered(FabricTransaction& x) {
  // The block behind may be foreign, so the node number was not decremented.
  while (x.node > 0 && !(x.node < x.hop_count && x.hops[x.node].out == &port_)) --x.node;
  if (x.multicast && x.multicast->left_to_block(x) > 0 && !multicasts_ && !x.payload.is_response_error())
    throw RunError(multicast_text(x) + name() + " has answered it; expected its attribute multicast: true, or the " +
                   "payload passed on");
  port_.node().fabric().answered_outside(x, x.payload.get_response_status());
  port_.node().fabric().mode().came_in(x, port_, true);
}

void ForeignNeighbour::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  auto* x = p.get_extension<FabricTransaction>();
  auto* m = p.get_extension<SocketMessage>();
  if (!x && !m) {
    tlm::tlm_fw_transport_if<>* entry = this->entry();
    if (entry) return entry->b_transport(p, delay);
    p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  Blocking call;
  blocking_[&p] = &call;
  const uint64_t tick = timeline_.stamp() + requests_.in_cycles(delay).value();
  if (x) {
    request_at(p, tick);
  } else {
    message_at(*m, tick);
  }
  while (!call.complete) sc_core::wait(call.done);
  blocking_.erase(&p);
  delay = sc_core::SC_ZERO_TIME;
}

unsigned ForeignNeighbour::transport_dbg(tlm::tlm_generic_payload& p) {
  tlm::tlm_fw_transport_if<>* entry = this->entry();
  return entry ? entry->transport_dbg(p) : 0;
}

bool ForeignNeighbour::get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
  tlm::tlm_fw_transport_if<>* entry = this->entry();
  return entry && entry->get_direct_mem_ptr(p, dmi);
}

std::string ForeignNeighbour::name() const {
  return name_.empty() ? "the foreign block behind " + port_.node().owner().id() : name_;
}

bool ForeignNeighbour::ask_for_pointer(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi,
                                       tlm::tlm_bw_transport_if<>* told) {
  if (!forward()->get_direct_mem_ptr(p, dmi)) return false;
  if (told && std::find(pointed_.begin(), pointed_.end(), told) == pointed_.end()) pointed_.push_back(told);
  return true;
}

void ForeignNeighbour::invalidate(uint64_t first, uint64_t last) {
  for (auto* told : pointed_) told->invalidate_direct_mem_ptr(first, last);
}

tlm::tlm_fw_transport_if<>* ForeignNeighbour::entry() {
  if (!entry_) entry_ = port_.node().fabric().make_entry(port_.node(), responses_.backward());
  return entry_.get();
}

/// The payload's data, if they were not needed so far: for a write the contents of memory, else zeros.
void ForeignNeighbour::attach_data(FabricTransaction& x) {
  if (x.payload.get_data_ptr()) return;
  x.bytes.assign(x.payload.get_data_length(), 0);
  if (x.payload.is_write()) port_.node().fabric().known_bytes(x, x.bytes.data());
  x.payload.set_data_ptr(x.bytes.data());
}

}  // namespace kernbench::fabric
