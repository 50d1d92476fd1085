// SPDX-License-Identifier: Apache-2.0
// The protocol of the sockets inside a PE, and one connection of a block to a neighbour by it. Timing rules §5, §6.
#pragma once

#include <tlm>

#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::pe {

class PeBlock;

/// Protocol of the sockets inside a PE, over edges that take no time.
///
/// Items are handed on by nb_transport_fw(item, BEGIN_REQ): from pe_cpu to the scheduler, from there to the engine of
/// the first stage, and so on from engine to engine. Answer TLM_UPDATED with END_REQ: taken. TLM_ACCEPTED: there is no
/// room in the queue; nb_transport_bw(item, END_REQ) comes when there is, in the order in which senders began to wait.
/// A send (queue_message.h) is answered TLM_ACCEPTED, and END_REQ comes when its last segment has a slot.
/// Completion goes back by nb_transport_bw(item, BEGIN_RESP), answered TLM_COMPLETED: an item's last stage to the
/// scheduler over the edge between them, whoever handed the item to that stage; the scheduler to who submitted.
/// pe_tcm and pe_mmu are asked by b_transport(item) how long an access takes: answer_ns, from its begin on. Of pe_tcm:
/// asked_bytes through its read or write port from asked_from_ns on, be it now or later; the answer has the wait for a
/// port in it where a TCM has such waits, for which accesses count in the order in which they are asked for. FETCH and
/// STORE ask once for each item; an engine that streams asks once for a simple command's operands and once for its
/// result, as far as they have bytes; a foreign engine's accesses to the TCM are asked for as they come. Of pe_mmu: the
/// look-up of asked_rows at asked_address. transport_dbg(item) has a block do what item.setup says (pe_setup.h), at no
/// time; answered 1 where it does.
struct pe_command_protocol {
  using tlm_payload_type = PeItem;
  using tlm_phase_type = tlm::tlm_phase;
};

/// What is bound to a socket at this end: calls of the neighbour arrive here, and what goes to it leaves from here.
class PePort final : public tlm::tlm_fw_transport_if<pe_command_protocol>,
                     public tlm::tlm_bw_transport_if<pe_command_protocol> {
 public:
  explicit PePort(PeBlock& block) : block_(&block) {}

  /// Hands an item to the neighbour. True: taken; false: the answer comes when there is room.
  bool send(PeItem& item) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return neighbour_.forward->nb_transport_fw(item, phase, delay) == tlm::TLM_UPDATED;
  }
  /// Tells the neighbour that there was room for its item.
  void accept(PeItem& item) { answer(item, tlm::END_REQ); }
  /// Tells the neighbour that the item is complete.
  void complete(PeItem& item) { answer(item, tlm::BEGIN_RESP); }
  /// What an access of the item takes at the neighbour, ns.
  double ask(PeItem& item) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    neighbour_.forward->b_transport(item, delay);
    return item.answer_ns;
  }
  /// The same of pe_tcm: so many bytes through its write or read port, from from_ns on.
  double ask(PeItem& item, uint64_t nbytes, bool write, double from_ns) {
    item.asked_bytes = nbytes;
    item.asked_write = write;
    item.asked_from_ns = from_ns;
    return ask(item);
  }

  /// Has the neighbour do what item.setup says, at no time. False: nobody there does.
  bool set_up(PeItem& item) { return neighbour_.forward->transport_dbg(item) > 0; }

  // Elaboration has shown who is bound here.
  void bound_forward(tlm::tlm_fw_transport_if<pe_command_protocol>* neighbour) { neighbour_.forward = neighbour; }
  void bound_backward(tlm::tlm_bw_transport_if<pe_command_protocol>* neighbour) { neighbour_.backward = neighbour; }

  // What the neighbour calls.
  tlm::tlm_sync_enum nb_transport_fw(PeItem&, tlm::tlm_phase&, sc_core::sc_time&) override;
  tlm::tlm_sync_enum nb_transport_bw(PeItem&, tlm::tlm_phase&, sc_core::sc_time&) override;
  void b_transport(PeItem&, sc_core::sc_time&) override;
  unsigned transport_dbg(PeItem&) override;
  bool get_direct_mem_ptr(PeItem&, tlm::tlm_dmi&) override { return false; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  void answer(PeItem& item, tlm::tlm_phase phase) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    neighbour_.backward->nb_transport_bw(item, phase, delay);
  }

  PeBlock* block_;
  union {  // a cache line holds a port: one of an initiator socket calls forward, one of a target socket backward
    tlm::tlm_fw_transport_if<pe_command_protocol>* forward = nullptr;
    tlm::tlm_bw_transport_if<pe_command_protocol>* backward;
  } neighbour_;
};

}  // namespace kernbench::pe
