#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"

namespace kernbench {

BaseProtocolInitiator::~BaseProtocolInitiator() = default;

tlm::tlm_generic_payload* BaseProtocolInitiator::take_payload() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
    free_.push_back(all_.back().get());
  }
  tlm::tlm_generic_payload* p = free_.back();
  free_.pop_back();
  p->acquire();
  return p;
}

void BaseProtocolInitiator::free(tlm::tlm_generic_payload* p) {
  p->reset();
  free_.push_back(p);
}

void BaseProtocolInitiator::start(ForeignTransfer& t) {
  waiting_.push_back(&t);
  if (!requesting_) request_next();
}

void BaseProtocolInitiator::request_next() {
  while (!requesting_ && !waiting_.empty()) {
    ForeignTransfer& t = *waiting_.front();
    waiting_.pop_front();
    tlm::tlm_generic_payload& p = *take_payload();
    p.set_data_ptr(nullptr);
    if (t.foreign) p.deep_copy_from(*t.foreign);  // for its extensions; all else is set anew
    p.set_command(t.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(t.address);
    p.set_data_ptr(t.data);
    p.set_data_length(t.nbytes);
    p.set_streaming_width(t.nbytes);
    p.set_byte_enable_ptr(nullptr);
    p.set_byte_enable_length(0);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    under_way_[&p] = &t;
    requesting_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = forward_->nb_transport_fw(p, phase, delay);
    const double at = timeline_.after(delay);
    if (answer == tlm::TLM_COMPLETED) {
      request_ends(p, at);
      timeline_.at(at, Order(Order::kEngines, index_, 0), &BaseProtocolInitiator::completed, this, &p);
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      request_ends(p, at);
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
      request_ends(p, at);
      timeline_.at(at, Order(Order::kEngines, index_, 0), &BaseProtocolInitiator::end_response, this, &p);
    }
  }
}

/// The channel is free for the next request at `at_ns`.
void BaseProtocolInitiator::request_ends(tlm::tlm_generic_payload& p, double at_ns) {
  if (requesting_ != &p) return;
  if (Timeline::to_fs(at_ns) <= Timeline::to_fs(timeline_.now_ns()) && timeline_.working()) {
    requesting_ = nullptr;
    return;
  }
  // Taken until then; the entry frees it. A later sign of the same request finds it no longer its own.
  requesting_ = &taken_;
  timeline_.at(at_ns, Order(Order::kEngines, index_, 1), &BaseProtocolInitiator::request_ended, this);
}

void BaseProtocolInitiator::request_ended(void* self, void*) {
  auto& me = *static_cast<BaseProtocolInitiator*>(self);
  me.requesting_ = nullptr;
  me.request_next();
}

tlm::tlm_sync_enum BaseProtocolInitiator::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                          sc_core::sc_time& delay) {
  const double at = timeline_.after(delay);
  if (phase == tlm::END_REQ) {
    request_ends(p, at);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;  // not the base protocol's: may be ignored
  request_ends(p, at);                                     // BEGIN_RESP says so too, where END_REQ was left out
  timeline_.at(at, Order(Order::kEngines, index_, 0), &BaseProtocolInitiator::completed, this, &p);
  return tlm::TLM_COMPLETED;
}

/// BEGIN_RESP came on the return path: END_RESP is still to be sent.
void BaseProtocolInitiator::end_response(void* self, void* payload) {
  auto& me = *static_cast<BaseProtocolInitiator*>(self);
  auto& p = *static_cast<tlm::tlm_generic_payload*>(payload);
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  me.forward_->nb_transport_fw(p, phase, delay);
  completed(self, payload);
}

void BaseProtocolInitiator::completed(void* self, void* payload) {
  auto& me = *static_cast<BaseProtocolInitiator*>(self);
  auto& p = *static_cast<tlm::tlm_generic_payload*>(payload);
  const auto it = me.under_way_.find(&p);
  ForeignTransfer& t = *it->second;
  me.under_way_.erase(it);
  t.status = p.get_response_status();
  if (t.foreign) t.foreign->update_extensions_from(p);
  p.release();
  t.done(t.context, t);
}

unsigned BaseProtocolInitiator::debug(bool write, uint64_t address, uint8_t* data, unsigned nbytes) {
  if (!forward_) return 0;
  tlm::tlm_generic_payload p;
  p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(address);
  p.set_data_ptr(data);
  p.set_data_length(nbytes);
  p.set_streaming_width(nbytes);
  return forward_->transport_dbg(p);
}

}  // namespace kernbench
