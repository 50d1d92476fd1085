// SPDX-License-Identifier: Apache-2.0
// What a port has beside a block that is not of this project: an LT or AT model of the user's own, a bus, an observer.
// It keeps the base protocol towards it in both roles: requests and responses one at a time, END_REQ waited for,
// b_transport served, data attached to payloads whose bytes the project's own blocks do not need.
//
// Every call goes out at the very instant of the message, in its turn. What comes back or through is as late as the
// foreign block makes it: the message's exact time moves by the ticks that have passed outside. In flit mode the
// foreign block sees one payload a message, when its first flit is there; the flits behind it keep their distance from
// the first (FlitStream). A posted message, which goes on before its payload has been answered, has a payload of its
// own at each foreign block.
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
  /// What messages call the foreign block: by default where it stands.
  void set_name(std::string name) { name_ = std::move(name); }
  std::string name() const;
  std::string target_name() const override { return name(); }
  /// As RequestChannel: how the block's responses end, and the clock of its delays.
  void set_block(protocol::EndResp end_resp, const sc_core::sc_time& cycle) { requests_.set_target(end_resp, cycle); }
  /// Asks the foreign block for a pointer; `told`: whom it calls when that holds no more.
  bool ask_for_pointer(tlm::tlm_generic_payload&, tlm::tlm_dmi&, tlm::tlm_bw_transport_if<>* told);
  void invalidate(uint64_t first, uint64_t last);
  void set_backward(tlm::tlm_bw_transport_if<>* backward) { responses_.set_backward(backward); }
  /// What the edge from the foreign block to here costs; that block knows nothing of it.
  Link from;

  // What the port's block sends: the header is there at x.time_ns, the flit at f.time_ns.
  void send_request(FabricTransaction&);
  void send_response(FabricTransaction&);
  void send_flit(Flit&);
  void send_request(SocketMessage&);
  void send_response(SocketMessage&);

  // What the foreign block calls.
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
  /// What serves payloads of foreign initiators, which carry no note of this project's; null where bytes are not kept.
  tlm::tlm_fw_transport_if<>* entry();
  void attach_data(FabricTransaction&);

  FabricPort& port_;
  Timeline& timeline_;
  std::string name_;
  std::vector<tlm::tlm_bw_transport_if<>*> pointed_;  ///< who has pointers that the block has granted
  RequestChannel requests_;
  ResponseChannel responses_;
  std::unordered_map<const tlm::tlm_generic_payload*, Blocking*> blocking_;  ///< calls of b_transport that wait
  std::unique_ptr<tlm::tlm_fw_transport_if<>> entry_;                        ///< null until it is needed
  std::vector<std::unique_ptr<Envelope>> envelopes_;
  std::vector<Envelope*> idle_envelopes_;
};

}  // namespace kernbench::fabric
