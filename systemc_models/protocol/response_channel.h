// SPDX-License-Identifier: Apache-2.0
// The counterpart of request_channel.h: responses over one hop of the base protocol, one at a time (BEGIN_RESP
// exclusion). It accepts every legal answer of an initiator, with or without a delay.
#pragma once

#include <deque>
#include <tlm>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::protocol {

class ResponseChannel {
 public:
  /// Called on the timeline when the response has ended (explicit or implied END_RESP).
  class Client {
   public:
    virtual ~Client() = default;
    virtual void response_ended(tlm::tlm_generic_payload&) = 0;
  };
  ResponseChannel(Timeline& timeline, uint32_t index, Client& client)
      : timeline_(timeline), index_(index), client_(client) {}
  /// Receiver of responses; null if nothing is bound.
  void set_backward(tlm::tlm_bw_transport_if<>* backward) { backward_ = backward; }
  tlm::tlm_bw_transport_if<>* backward() const { return backward_; }

  /// Sends BEGIN_RESP, now or after the end of the previous response. Call it on the timeline.
  void send(tlm::tlm_generic_payload&);
  /// The initiator sent END_RESP. Returns false if no response waits for it.
  bool end_response(tlm::tlm_generic_payload&, const sc_core::sc_time& delay);

 private:
  void send_next();
  void ended(tlm::tlm_generic_payload&);

  Timeline& timeline_;
  uint32_t index_;
  Client& client_;
  tlm::tlm_bw_transport_if<>* backward_ = nullptr;
  std::deque<tlm::tlm_generic_payload*> waiting_;
  tlm::tlm_generic_payload* responding_ = nullptr;  ///< BEGIN_RESP sent, not ended
};

}  // namespace kernbench::protocol
