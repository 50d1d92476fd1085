// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/protocol/response_channel.h"

namespace kernbench::protocol {

void ResponseChannel::send(tlm::tlm_generic_payload& p) {
  waiting_.push_back(&p);
  send_next();
}

void ResponseChannel::send_next() {
  while (!responding_ && !waiting_.empty()) {
    tlm::tlm_generic_payload& p = *waiting_.front();
    waiting_.pop_front();
    responding_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = backward_->nb_transport_bw(p, phase, delay);
    if (answer == tlm::TLM_ACCEPTED || (answer == tlm::TLM_UPDATED && phase != tlm::END_RESP)) return;
    if (delay > sc_core::SC_ZERO_TIME) {
      timeline_.at(timeline_.after(delay), Order(Order::kEngines, ~0u, index_),
                   call<&ResponseChannel::ended>(*this, p));
      return;
    }
    responding_ = nullptr;
    client_.response_ended(p);
  }
}

bool ResponseChannel::end_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
  if (responding_ != &p) return false;
  timeline_.at(timeline_.after(delay), Order(Order::kEngines, ~0u, index_), call<&ResponseChannel::ended>(*this, p));
  return true;
}

void ResponseChannel::ended(tlm::tlm_generic_payload& p) {
  responding_ = nullptr;
  client_.response_ended(p);
  send_next();
}

}  // namespace kernbench::protocol
