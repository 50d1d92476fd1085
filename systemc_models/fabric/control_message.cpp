// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/control_message.h"

#include "kernbench/systemc_models/fabric/control_legs.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"

namespace kernbench::fabric {

const char* name_of(HostError e) {
  switch (e) {
    case HostError::ok:
      return "ok";
    case HostError::bad_address:
      return "bad_address";
    case HostError::no_path:
      return "no_path";
    case HostError::pe_busy:
      return "pe_busy";
    case HostError::kernel_fault:
      return "kernel_fault";
    case HostError::no_mmu:
      return "no_mmu";
    case HostError::overlap:
      return "overlap";
    case HostError::not_mapped:
      return "not_mapped";
    case HostError::memory_error:
      return "memory_error";
    case HostError::not_understood:
      return "not_understood";
    case HostError::aborted:
      return "aborted";
  }
  return "";
}

HostResponse error_response(HostError code, std::string text) {
  HostResponse r;
  r.code = code;
  r.text = std::move(text);
  return r;
}

void ControlMessage::fill_payload() {
  payload.set_command(tlm::TLM_IGNORE_COMMAND);
  payload.set_address(leg_->end->owner().index());
  payload.set_data_ptr(no_data_.data());
  payload.set_data_length(no_data_.size());
  payload.set_streaming_width(no_data_.size());
  payload.set_byte_enable_ptr(nullptr);
  payload.set_byte_enable_length(0);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void ControlMessage::send(const ControlLeg& leg, ControlSender& sender, double sent_ns, double offset_ns) {
  leg_ = &leg;
  sender_ = &sender;
  sent_ns_ = sent_ns;
  offset_ns_ = offset_ns;
  leg_ns_ = 0;
  passed_.clear();
  answered_ = false;
  response = {};
  response.ids = ids;
  fill_payload();
  go_on();
}

void ControlMessage::go_on() {
  if (passed_.size() == leg_->hops.size()) {
    time_ns_ = sent_ns_ + (offset_ns_ + leg_ns_);
    timeline_.at(time_ns_, order(), call<&ControlTarget::message_arrived>(*leg_->target, *this));
    return;
  }
  FabricPort& out = *leg_->hops[passed_.size()].out;
  const double overhead_ns = ControlLeg::ns_at(leg_->path()[passed_.size()]);
  passed_.push_back({leg_ns_, overhead_ns, nullptr});
  leg_ns_ += overhead_ns + out.link.wire_ns;
  time_ns_ = sent_ns_ + (offset_ns_ + leg_ns_);
  out.request(*this);
}

const FabricNode& ControlMessage::next() const {
  return passed_.size() == leg_->hops.size() ? *leg_->end : leg_->hops[passed_.size()].out->node();
}

void ControlMessage::request_in(FabricPort& in) {
  passed_.back().in = &in;
  if (in.foreign()) leg_ns_ += in.foreign()->from.wire_ns;
  if (&in.node() == &next()) return go_on();
  respond(HostError::no_path,
          in.node().owner().id() + ": a message for " + leg_->end->owner().id() + " has gone astray", time_ns_);
}

void ControlMessage::respond(HostError code, const std::string& text, double at_ns) {
  answered_ = true;
  answered_ns_ = at_ns;
  response.code = code;
  response.text = text;
  payload.set_response_status(response.ok() ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  go_back();
}

void ControlMessage::go_back() {
  if (passed_.empty()) {
    response.done_ns = answered_ns_ + leg_ns_;
    timeline_.at(response.done_ns, order(), call<&ControlMessage::arrive_back>(*this));
    return;
  }
  const Passed& at = passed_.back();
  time_ns_ = answered_ns_ + (leg_ns_ - at.ns - at.overhead_ns);
  at.in->respond(*this);
}

void ControlMessage::arrive_back() {
  sender_->response_arrived(*this);
  payload.release();
}

void ControlMessage::response_in(FabricPort&) {
  passed_.pop_back();
  go_back();
}

void ControlMessage::answered_outside(FabricPort& out) {
  while (leg_->hops[passed_.size() - 1].out != &out) passed_.pop_back();
  const Passed& at = passed_.back();
  answered_ = true;
  answered_ns_ = time_ns_ - (leg_ns_ - at.ns - at.overhead_ns);
  response.code = HostError::no_path;
  response.text = out.node().owner().id() + ": a block outside answered " + payload.get_response_string() +
                  " to a message for " + leg_->end->owner().id();
}

ControlMessage& ControlPool::acquire(uint64_t correlation) {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<ControlMessage>(timeline_, static_cast<tlm::tlm_mm_interface*>(this)));
    idle_.push_back(all_.back().get());
  }
  ControlMessage& m = *idle_.back();
  idle_.pop_back();
  m.ids = {correlation, ++last_request_};
  m.payload.acquire();
  return m;
}

/// The contents are deleted at once, because those of a launch may be large.
void ControlPool::free(tlm::tlm_generic_payload* payload) {
  auto* m = static_cast<ControlMessage*>(payload->get_extension<SocketMessage>());
  payload->reset();  // extensions that foreign blocks have left on the payload
  m->body.reset();
  m->addresses.reset();
  m->places.clear();
  idle_.push_back(m);
}

}  // namespace kernbench::fabric
