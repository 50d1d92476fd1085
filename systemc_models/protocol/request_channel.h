// SPDX-License-Identifier: Apache-2.0
// One hop of the TLM-2.0 base protocol as its initiator keeps it, with nb_transport: the four phases and every shortcut
// that a target may take. A target that only has b_transport is served through its simple_target_socket's conversion;
// where its socket has none (passthrough and multi sockets), it is called by b_transport from a process of its own a
// request.
//
// One request at a time (BEGIN_REQ exclusion), any number under way. BEGIN_RESP may come without END_REQ; how it is
// answered is EndResp's.
#pragma once

#include <deque>
#include <string>
#include <tlm>
#include <unordered_set>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::protocol {

/// How a response ends (IEEE 1666-2011, 15.2.5: all three are legal, but targets exist that know only some).
enum class EndResp : uint8_t {
  updated,    ///< BEGIN_RESP is answered TLM_UPDATED with END_RESP
  completed,  ///< with TLM_COMPLETED
  phase,      ///< with TLM_ACCEPTED, and END_RESP is a call of its own at that instant
};

/// `end_resp` of a parameter struct, and what its value means.
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
  /// Told on the timeline, at the instant at which the response has come.
  class Client {
   public:
    virtual ~Client() = default;
    virtual void responded(tlm::tlm_generic_payload&) = 0;
    /// What faults call the target.
    virtual std::string target_name() const = 0;
  };
  /// `index`: of the block, for the order of what happens at one instant.
  RequestChannel(Timeline& timeline, uint32_t index, Client& client, EndResp end_resp = EndResp::updated)
      : timeline_(timeline), index_(index), client_(client), end_resp_(end_resp) {}
  /// Where requests go; null where nothing is bound.
  void set_forward(tlm::tlm_fw_transport_if<>* forward) { forward_ = forward; }
  tlm::tlm_fw_transport_if<>* forward() const { return forward_; }

  /// How responses end from now on, and the target's clock: its delays are rounded up to a multiple of `cycle`, if any.
  void set_target(EndResp end_resp, const sc_core::sc_time& cycle) {
    end_resp_ = end_resp;
    cycle_ = cycle;
  }
  /// A delay in the target's cycles.
  sc_core::sc_time in_cycles(const sc_core::sc_time& delay) const {
    const uint64_t cycle = cycle_.value(), ticks = delay.value();
    return cycle == 0 || ticks % cycle == 0 ? delay : sc_core::sc_time::from_value(ticks + (cycle - ticks % cycle));
  }

  /// Sends the request, now or when the one before it has ended; to be called on the timeline. The payload has a memory
  /// manager and stays the caller's until responded().
  void send(tlm::tlm_generic_payload&);
  /// What the target calls.
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
  std::unordered_set<const tlm::tlm_generic_payload*> under_way_;  ///< sent, without a response so far
  tlm::tlm_generic_payload taken_;                                 ///< stands for a request that ends in time to come
  tlm::tlm_generic_payload* requesting_ = nullptr;
  /// What is known of the target: nothing, that it takes nb_transport, that it knows b_transport only.
  enum class Target : uint8_t { unknown, non_blocking, blocking } target_ = Target::unknown;
  bool sending_ = false;  ///< send_next() works: it goes on by itself when the request ends
};

}  // namespace kernbench::protocol
