// SPDX-License-Identifier: Apache-2.0
// One hop of the TLM-2.0 base protocol at its initiator, with nb_transport. It accepts the four phases and every legal
// shortcut of a target. A target that has only b_transport is reached through the conversion of its
// simple_target_socket. If its socket has no conversion (passthrough and multi sockets), each request is a b_transport
// call in a separate process.
//
// One request at a time (BEGIN_REQ exclusion); any number of transactions in flight. BEGIN_RESP may come without
// END_REQ. EndResp determines the answer to it.
#pragma once

#include <deque>
#include <string>
#include <tlm>
#include <unordered_set>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::protocol {

/// How a response ends. IEEE 1666-2011, 15.2.5, allows all three, but some targets support only some of them.
enum class EndResp : uint8_t {
  updated,    ///< BEGIN_RESP returns TLM_UPDATED with END_RESP
  completed,  ///< BEGIN_RESP returns TLM_COMPLETED
  phase,      ///< BEGIN_RESP returns TLM_ACCEPTED, and END_RESP is a separate call at that instant
};

/// `end_resp` of a parameter struct, and the meaning of its value.
template <class List, class P>
void describe_end_resp(List& list, std::string P::*member) {
  list.add(member, "end_resp", "",
           "response to the model's BEGIN_RESP: TLM_UPDATED with END_RESP, TLM_COMPLETED, or END_RESP by a separate "
           "call")
      .choices({"updated", "completed", "phase"});
}
EndResp end_resp_named(const std::string&);

class RequestChannel {
 public:
  /// Called on the timeline at the instant at which the response arrived.
  class Client {
   public:
    virtual ~Client() = default;
    virtual void responded(tlm::tlm_generic_payload&) = 0;
    /// Name of the target in messages.
    virtual std::string target_name() const = 0;
  };
  /// `index`: of the block, to order events of one instant.
  RequestChannel(Timeline& timeline, uint32_t index, Client& client, EndResp end_resp = EndResp::updated)
      : timeline_(timeline), index_(index), client_(client), end_resp_(end_resp) {}
  /// Receiver of requests; null if nothing is bound.
  void set_forward(tlm::tlm_fw_transport_if<>* forward) { forward_ = forward; }
  tlm::tlm_fw_transport_if<>* forward() const { return forward_; }

  /// The kind of response end from now on, and the target's clock: its delays are rounded up to a multiple of `cycle`,
  /// if that is set.
  void set_target(EndResp end_resp, const sc_core::sc_time& cycle) {
    end_resp_ = end_resp;
    cycle_ = cycle;
  }
  /// The delay in cycles of the target.
  sc_core::sc_time in_cycles(const sc_core::sc_time& delay) const {
    const uint64_t cycle = cycle_.value(), ticks = delay.value();
    return cycle == 0 || ticks % cycle == 0 ? delay : sc_core::sc_time::from_value(ticks + (cycle - ticks % cycle));
  }

  /// Sends the request, now or after the end of the previous one. Call it on the timeline. The payload has a memory
  /// manager and belongs to the caller; it must live until responded().
  void send(tlm::tlm_generic_payload&);
  /// Called by the target.
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);

 private:
  void send_next();
  tlm::tlm_sync_enum begin(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);
  void call_blocking(tlm::tlm_generic_payload&);
  bool takes_response(const tlm::tlm_generic_payload&);
  double after(const sc_core::sc_time& delay) const { return timeline_.after(in_cycles(delay)); }
  void request_ends(tlm::tlm_generic_payload&, double at_ns);
  void request_ended();
  void completed(tlm::tlm_generic_payload&);
  void end_response(tlm::tlm_generic_payload&);

  Timeline& timeline_;
  uint32_t index_;
  Client& client_;
  EndResp end_resp_;
  sc_core::sc_time cycle_;
  tlm::tlm_fw_transport_if<>* forward_ = nullptr;
  std::deque<tlm::tlm_generic_payload*> waiting_;
  std::unordered_set<const tlm::tlm_generic_payload*> under_way_;  ///< sent, without a response
  tlm::tlm_generic_payload taken_;                                 ///< placeholder for a request that ends in the
                                                                   ///< future
  tlm::tlm_generic_payload* requesting_ = nullptr;
  /// Knowledge about the target: none, accepts nb_transport, has only b_transport.
  enum class Target : uint8_t { unknown, non_blocking, blocking } target_ = Target::unknown;
  bool sending_ = false;  ///< send_next() is running and continues by itself when the request ends
};

}  // namespace kernbench::protocol
