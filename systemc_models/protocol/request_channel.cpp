// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/protocol/request_channel.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace kernbench::protocol {

namespace {

struct NoSuchCallback {};

/// During its lifetime, the convenience sockets' report about a missing callback becomes an exception. All other
/// reports are handled as before.
class QuietQuestion {
 public:
  QuietQuestion() : before_(std::exchange(usual, sc_core::sc_report_handler::get_handler())) {
    sc_core::sc_report_handler::set_handler(&hear);
  }
  ~QuietQuestion() {
    sc_core::sc_report_handler::set_handler(usual);
    usual = before_;
  }

 private:
  static void hear(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
    const bool socket = std::strncmp(report.get_msg_type(), "/OSCI_TLM-2/", 12) == 0;
    if (socket && std::strstr(report.get_msg(), "callback") != nullptr) throw NoSuchCallback();
    usual(report, actions);
  }
  static inline sc_core::sc_report_handler_proc usual = nullptr;
  sc_core::sc_report_handler_proc before_;
};

}  // namespace

EndResp end_resp_named(const std::string& name) {
  return name == "phase" ? EndResp::phase : name == "completed" ? EndResp::completed : EndResp::updated;
}

void RequestChannel::send(tlm::tlm_generic_payload& p) {
  waiting_.push_back(&p);
  if (!requesting_) send_next();
}

void RequestChannel::send_next() {
  sending_ = true;
  while (!requesting_ && !waiting_.empty()) {
    tlm::tlm_generic_payload& p = *waiting_.front();
    waiting_.pop_front();
    requesting_ = &p;
    under_way_.insert(&p);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = begin(p, phase, delay);
    const double at = after(delay);
    if (answer == tlm::TLM_COMPLETED) {
      request_ends(p, at);
      if (!takes_response(p)) continue;
      timeline_.at(at, Order(Order::kEngines, index_, 0), call<&RequestChannel::completed>(*this, p));
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      request_ends(p, at);
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
      request_ends(p, at);
      if (!takes_response(p)) continue;
      timeline_.at(at, Order(Order::kEngines, index_, 0), call<&RequestChannel::end_response>(*this, p));
    }
  }
  sending_ = false;
}

tlm::tlm_sync_enum RequestChannel::begin(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (target_ == Target::unknown) {
    const QuietQuestion question;
    try {
      const tlm::tlm_sync_enum answer = forward_->nb_transport_fw(p, phase, delay);
      target_ = Target::non_blocking;
      return answer;
    } catch (const NoSuchCallback&) {
      target_ = Target::blocking;
    }
  }
  if (target_ == Target::non_blocking) return forward_->nb_transport_fw(p, phase, delay);
  sc_core::sc_spawn([this, &p] { call_blocking(p); });
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void RequestChannel::call_blocking(tlm::tlm_generic_payload& p) {
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  forward_->b_transport(p, delay);
  if (!takes_response(p)) return;
  timeline_.at(after(delay), Order(Order::kEngines, index_, 0), call<&RequestChannel::completed>(*this, p));
}

/// Whether the payload is in flight without a response so far. Otherwise the target is at fault.
bool RequestChannel::takes_response(const tlm::tlm_generic_payload& p) {
  if (under_way_.erase(&p) > 0) return true;
  const std::string payload = fmt::format(
      "{}: the response to a {} of {} bytes at {:#x} came twice or without its request", client_.target_name(),
      p.is_read()    ? "read"
      : p.is_write() ? "write"
                     : "command",
      p.get_data_length(), p.get_address());
  SC_REPORT_ERROR("/kernbench/tlm", payload.c_str());
  return false;
}

/// The channel is free for the next request at `at_ns`. The target may call while the timeline works, because it may
/// lead back into the same platform. In this case only the timeline entry sends the next request.
void RequestChannel::request_ends(tlm::tlm_generic_payload& p, double at_ns) {
  if (requesting_ != &p) return;
  if (sending_ && Timeline::to_fs(at_ns) <= Timeline::to_fs(timeline_.now_ns())) {
    requesting_ = nullptr;
    return;
  }
  // Occupied until then; the entry frees it. A later end of the same request finds another one here and has no effect.
  requesting_ = &taken_;
  timeline_.at(at_ns, Order(Order::kEngines, index_, 1), call<&RequestChannel::request_ended>(*this));
}

void RequestChannel::request_ended() {
  requesting_ = nullptr;
  send_next();
}

tlm::tlm_sync_enum RequestChannel::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
  const double at = after(delay);
  if (phase == tlm::END_REQ) {
    request_ends(p, at);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;  // a phase outside the base protocol, which may be ignored
  if (!takes_response(p)) return tlm::TLM_COMPLETED;
  request_ends(p, at);  // BEGIN_RESP also ends the request if END_REQ was omitted
  const bool calls = end_resp_ == EndResp::phase;
  timeline_.at(at, Order(Order::kEngines, index_, 0),
               calls ? call<&RequestChannel::end_response>(*this, p) : call<&RequestChannel::completed>(*this, p));
  if (calls) return tlm::TLM_ACCEPTED;
  if (end_resp_ == EndResp::completed) return tlm::TLM_COMPLETED;
  phase = tlm::END_RESP;
  return tlm::TLM_UPDATED;
}

/// END_RESP must still be sent, because BEGIN_RESP came on the return path, or because EndResp requires a call.
void RequestChannel::end_response(tlm::tlm_generic_payload& p) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  forward_->nb_transport_fw(p, phase, delay);
  completed(p);
}

void RequestChannel::completed(tlm::tlm_generic_payload& p) {
  client_.responded(p);
}

}  // namespace kernbench::protocol
