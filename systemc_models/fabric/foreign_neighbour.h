// SPDX-License-Identifier: Apache-2.0
// The protocol of a port next to a foreign block: a user's LT or AT model, a bus, or an observer. It implements the
// base protocol in both roles: one request and one response at a time, waits for END_REQ, accepts b_transport, and
// attaches data to payloads, which the project's own blocks do not need.
//
// Every call is made at the instant of the message, in order. The foreign block determines the delay of messages that
// return or pass through: the exact time advances by the ticks that have passed in it. In flit mode the foreign block
// sees one payload per message, when its first flit arrives. Later flits keep their distance from the first
// (FlitStream). A posted message, which continues before its payload is answered, has a separate payload at each
// foreign block.
#pragma once

#include <memory>
#include <string>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/link.h"
#include "kernbench/systemc_models/fabric/transaction.h"
#include "kernbench/systemc_models/protocol/request_channel.h"
#include "kernbench/systemc_models/protocol/response_channel.h"

namespace kernbench::fabric {

class FabricPort;
class SocketMessage;

class ForeignNeighbour : private RequestChannel::Client,
                         private ResponseChannel::Client,
                         private tlm::tlm_mm_interface {
 public:
  explicit ForeignNeighbour(FabricPort& port);
  ~ForeignNeighbour() override;
  void set_forward(tlm::tlm_fw_transport_if<>* forward) { requests_.set_forward(forward); }
  tlm::tlm_fw_transport_if<>* forward() const { return requests_.forward(); }
  /// Name of the foreign block in messages; by default its position.
  void set_name(std::string name) { name_ = std::move(name); }
  std::string name() const;
  std::string target_name() const override { return name(); }
  /// As in RequestChannel: the kind of response end, and the clock of the block's delays.
  void set_block(protocol::EndResp end_resp, const sc_core::sc_time& cycle, bool multicasts) {
    requests_.set_target(end_resp, cycle);
    multicasts_ = multicasts;
  }
  /// Whether the block forks multicasts.
  bool multicasts() const { return multicasts_; }
  /// Requests a pointer from the foreign block. `told` is notified of its invalidation.
  bool ask_for_pointer(tlm::tlm_generic_payload&, tlm::tlm_dmi&, tlm::tlm_bw_transport_if<>* told);
  void invalidate(uint64_t first, uint64_t last);
  void set_backward(tlm::tlm_bw_transport_if<>* backward) { responses_.set_backward(backward); }
  /// Cost of the edge from the foreign block to here, which that block does not model.
  Link from;

  // Messages of the port's block: the header is there at x.time_ns, the flit at f.time_ns.
  void send_request(FabricTransaction&);
  void send_response(FabricTransaction&);
  void send_flit(Flit&);
  void send_request(SocketMessage&);
  void send_response(SocketMessage&);

  // Called by the foreign block.
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload&);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&);

 private:
  struct Blocking;
  class Envelope;
  void responded(tlm::tlm_generic_payload&) override;
  void response_ended(tlm::tlm_generic_payload&) override {}
  void deliver_request(FabricTransaction&);
  void deliver_response(FabricTransaction&);
  void deliver_message(SocketMessage&);
  void deliver_answer(SocketMessage&);
  Envelope& envelope_of(FabricTransaction&);
  void free(tlm::tlm_generic_payload*) override;
  void answered(FabricTransaction&);
  void leave(FabricTransaction&);
  void leave(SocketMessage&);
  void come_back(FabricTransaction&, uint64_t tick);
  void request_at(tlm::tlm_generic_payload&, uint64_t tick);
  void request_came(tlm::tlm_generic_payload&);
  void message_came(SocketMessage&);
  void send_back(tlm::tlm_generic_payload&);
  void message_at(SocketMessage&, uint64_t tick);
  /// Serves payloads of foreign initiators, which lack this project's extension; null if bytes are not stored.
  tlm::tlm_fw_transport_if<>* entry();
  void attach_data(FabricTransaction&);
  static void attach_destinations(FabricTransaction&);

  FabricPort& port_;
  Timeline& timeline_;
  std::string name_;
  bool multicasts_ = false;
  std::vector<tlm::tlm_bw_transport_if<>*> pointed_;  ///< holders of pointers that the block has granted
  RequestChannel requests_;
  ResponseChannel responses_;
  std::unordered_map<const tlm::tlm_generic_payload*, Blocking*> blocking_;  ///< waiting calls of b_transport
  std::unique_ptr<tlm::tlm_fw_transport_if<>> entry_;                        ///< created on first use
  std::vector<std::unique_ptr<Envelope>> envelopes_;
  std::vector<Envelope*> idle_envelopes_;
};

}  // namespace kernbench::fabric
