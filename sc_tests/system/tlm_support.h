// SPDX-License-Identifier: Apache-2.0
// Foreign initiators for tests: an LT one in the test's thread, and an AT one that supports every way to respond.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tlm>
#include <vector>

namespace kernbench::testing {

/// Payloads with a memory manager; counts those in use.
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  tlm::tlm_generic_payload* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
      free_.push_back(all_.back().get());
    }
    tlm::tlm_generic_payload* p = free_.back();
    free_.pop_back();
    p->acquire();
    ++in_use_;
    return p;
  }
  void free(tlm::tlm_generic_payload* p) override {
    p->reset();
    free_.push_back(p);
    --in_use_;
  }
  size_t in_use() const { return in_use_; }

 private:
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
  size_t in_use_ = 0;
};

/// Parameters of an access.
struct Shape {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  uint64_t address = 0;
  std::vector<uint8_t> data, enables;  ///< no enables: all bytes
  unsigned streaming_width = 0;        ///< 0: the data length
  void fill(tlm::tlm_generic_payload& p) {
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(data.data());
    p.set_data_length(static_cast<unsigned>(data.size()));
    p.set_streaming_width(streaming_width ? streaming_width : static_cast<unsigned>(data.size()));
    p.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
    p.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
};

inline double now_ns() {
  return sc_core::sc_time_stamp().to_seconds() * 1e9;
}

/// A separate thread of the test with a socket.
class LtInitiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<LtInitiator> socket{"socket"};
  LtInitiator(sc_core::sc_module_name name, std::function<void(LtInitiator&)> body)
      : sc_module(name), body_(std::move(body)) {
    SC_HAS_PROCESS(LtInitiator);
    SC_THREAD(run);
    socket.register_invalidate_direct_mem_ptr(this, &LtInitiator::invalidated);
  }
  tlm::tlm_response_status access(Shape& shape, sc_core::sc_time* delay = nullptr) {
    tlm::tlm_generic_payload p;
    shape.fill(p);
    sc_core::sc_time none;
    socket->b_transport(p, delay ? *delay : none);
    dmi_hint = p.is_dmi_allowed();
    return p.get_response_status();
  }
  unsigned debug(Shape& shape) {
    tlm::tlm_generic_payload p;
    shape.fill(p);
    return socket->transport_dbg(p);
  }
  bool dmi_hint = false;
  bool finished = false;
  std::vector<std::pair<uint64_t, uint64_t>> invalidations;

 private:
  void run() {
    body_(*this);
    finished = true;
  }
  void invalidated(sc_dt::uint64 first, sc_dt::uint64 last) { invalidations.emplace_back(first, last); }
  std::function<void(LtInitiator&)> body_;
};

/// Issues from the test's thread, with any number in flight, and ends responses in every legal way.
class AtInitiator : public sc_core::sc_module {
 public:
  enum class Ending { end_resp, updated, completed };
  struct Issued {
    Shape shape;
    Ending ending = Ending::end_resp;
    double end_delay_ns = 0;    ///< until END_RESP, or annotated
    double issue_delay_ns = 0;  ///< annotated to BEGIN_REQ
    double begin_ns = 0, end_req_ns = -1, done_ns = -1;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    bool ended = false;
    tlm::tlm_sync_enum end_resp_answer = tlm::TLM_ACCEPTED;  ///< Ending::end_resp: what the call returned
    tlm::tlm_generic_payload* payload = nullptr;
  };
  tlm_utils::simple_initiator_socket<AtInitiator> socket{"socket"};
  PayloadPool pool;

  AtInitiator(sc_core::sc_module_name name, std::function<void(AtInitiator&)> body)
      : sc_module(name), body_(std::move(body)) {
    SC_HAS_PROCESS(AtInitiator);
    SC_THREAD(run);
    SC_THREAD(end_responses);
    socket.register_nb_transport_bw(this, &AtInitiator::nb_transport_bw);
  }

  /// Waits for the request channel, then sends BEGIN_REQ. `issued` must live until its end.
  void issue(Issued& issued) {
    while (requesting_) wait(request_free_);
    wait_until(channel_free_ns_);
    issued.payload = pool.take();
    issued.shape.fill(*issued.payload);
    issued.begin_ns = now_ns() + issued.issue_delay_ns;
    requesting_ = &issued;
    ++under_way_;
    open_.push_back(&issued);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay(issued.issue_delay_ns, sc_core::SC_NS);
    const tlm::tlm_sync_enum answer = socket->nb_transport_fw(*issued.payload, phase, delay);
    const double at = now_ns() + delay.to_seconds() * 1e9;
    if (answer == tlm::TLM_COMPLETED) {
      request_ended(issued, at);
      issued.done_ns = at;
      ended(issued);
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      request_ended(issued, at);
    } else if (issued.issue_delay_ns > 0) {
      channel_free_ns_ = at;
    }
  }
  /// Waits until all have ended.
  void drain() {
    while (under_way_ > 0) wait(one_ended_);
  }
  size_t under_way() const { return under_way_; }
  bool finished = false;

 private:
  void run() {
    body_(*this);
    drain();
    finished = true;
  }
  static void wait_until(double t_ns) {
    if (t_ns > now_ns()) sc_core::wait(sc_core::sc_time(t_ns - now_ns(), sc_core::SC_NS));
  }
  Issued& of(const tlm::tlm_generic_payload& p) {
    for (Issued* i : open_) {
      if (i->payload == &p) return *i;
    }
    throw std::logic_error("a response to nothing");
  }
  void request_ended(Issued& i, double at_ns) {
    i.end_req_ns = at_ns;
    channel_free_ns_ = std::max(channel_free_ns_, at_ns);
    if (requesting_ == &i) {
      requesting_ = nullptr;
      request_free_.notify();
    }
  }
  void ended(Issued& i) {
    i.status = i.payload->get_response_status();
    i.ended = true;
    open_.erase(std::find(open_.begin(), open_.end(), &i));
    i.payload->release();
    --under_way_;
    one_ended_.notify();
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    Issued& i = of(p);
    const double at = now_ns() + delay.to_seconds() * 1e9;
    if (phase == tlm::END_REQ) {
      request_ended(i, at);
      return tlm::TLM_ACCEPTED;
    }
    if (phase != tlm::BEGIN_RESP) throw std::logic_error("a phase of the initiator's on the backward path");
    if (i.end_req_ns < 0) request_ended(i, at);
    i.done_ns = at;
    if (i.ending == Ending::end_resp) {
      to_end_.push_back(&i);
      response_begun_.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_ACCEPTED;
    }
    delay += sc_core::sc_time(i.end_delay_ns, sc_core::SC_NS);
    const bool updated = i.ending == Ending::updated;
    if (updated) phase = tlm::END_RESP;
    ended(i);
    return updated ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
  }
  void end_responses() {
    for (;;) {
      while (to_end_.empty()) wait(response_begun_);
      Issued& i = *to_end_.front();
      to_end_.pop_front();
      if (i.end_delay_ns > 0) wait(sc_core::sc_time(i.end_delay_ns, sc_core::SC_NS));
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_core::sc_time delay;
      i.end_resp_answer = socket->nb_transport_fw(*i.payload, phase, delay);
      ended(i);
    }
  }

  std::function<void(AtInitiator&)> body_;
  Issued* requesting_ = nullptr;
  double channel_free_ns_ = 0;
  size_t under_way_ = 0;
  std::vector<Issued*> open_;
  std::deque<Issued*> to_end_;
  sc_core::sc_event request_free_, response_begun_, one_ended_;
};

}  // namespace kernbench::testing
