// SPDX-License-Identifier: Apache-2.0
// The protocol of the sockets inside a PE, and a block's connection to a neighbour. Timing rules §5, §6.
#pragma once

#include <tlm>

#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::pe {

class PeBlock;

/// Protocol of the sockets inside a PE. Edges take no time.
///
/// Items are handed on by nb_transport_fw(item, BEGIN_REQ): from pe_cpu to the scheduler, then to the engine of the
/// first stage, and so on from engine to engine. TLM_UPDATED with END_REQ: the item is taken. TLM_ACCEPTED: the queue
/// is full; nb_transport_bw(item, END_REQ) follows when it has space, in the order in which senders began to wait. A
/// send (queue_message.h) returns TLM_ACCEPTED, and END_REQ follows when its last segment has a slot.
///
/// Completion is nb_transport_bw(item, BEGIN_RESP), which returns TLM_COMPLETED. An item's last stage sends it to the
/// scheduler over the edge between them, from any sender of the item. The scheduler sends it to the submitter.
///
/// b_transport(item) queries pe_tcm and pe_mmu for the time of an access. The answer is answer_ns, counted from the
/// begin of the access. For pe_tcm: asked_bytes through its read or write port from asked_from_ns on, now or later. In
/// a TCM with port conflicts the answer includes the wait for the port; accesses count in the order of the queries.
/// FETCH and STORE query once per item. An engine that streams queries once for a simple command's operands and once
/// for its result, if they have bytes. Accesses of a foreign engine to the TCM are queried as they occur. For pe_mmu:
/// the look-up of asked_rows at asked_address.
///
/// transport_dbg(item) makes a block execute item.setup (pe_setup.h) in no time. It returns 1 if the block did so.
struct pe_command_protocol {
  using tlm_payload_type = PeItem;
  using tlm_phase_type = tlm::tlm_phase;
};

/// The end of a connection at this block: receives calls of the neighbour and sends calls to it.
class PePort final : public tlm::tlm_fw_transport_if<pe_command_protocol>,
                     public tlm::tlm_bw_transport_if<pe_command_protocol> {
 public:
  explicit PePort(PeBlock& block) : block_(&block) {}

  /// Hands an item to the neighbour. True: taken. False: the answer follows when there is space.
  bool send(PeItem& item) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return neighbour_.forward->nb_transport_fw(item, phase, delay) == tlm::TLM_UPDATED;
  }
  /// Tells the neighbour that its item now has space.
  void accept(PeItem& item) { answer(item, tlm::END_REQ); }
  /// Tells the neighbour that the item is complete.
  void complete(PeItem& item) { answer(item, tlm::BEGIN_RESP); }
  /// Time of an access of the item at the neighbour, ns.
  double ask(PeItem& item) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    neighbour_.forward->b_transport(item, delay);
    return item.answer_ns;
  }
  /// The same for pe_tcm: that many bytes through its write or read port, from from_ns on.
  double ask(PeItem& item, uint64_t nbytes, bool write, double from_ns) {
    item.asked_bytes = nbytes;
    item.asked_write = write;
    item.asked_from_ns = from_ns;
    return ask(item);
  }

  /// The neighbour executes item.setup, in no time. Returns false if none does.
  bool set_up(PeItem& item) { return neighbour_.forward->transport_dbg(item) > 0; }

  // Elaboration has determined the peer.
  void bound_forward(tlm::tlm_fw_transport_if<pe_command_protocol>* neighbour) { neighbour_.forward = neighbour; }
  void bound_backward(tlm::tlm_bw_transport_if<pe_command_protocol>* neighbour) { neighbour_.backward = neighbour; }

  // Called by the neighbour.
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
  union {  // a port fits a cache line: one of an initiator socket calls only forward, one of a target socket only
           // backward
    tlm::tlm_fw_transport_if<pe_command_protocol>* forward = nullptr;
    tlm::tlm_bw_transport_if<pe_command_protocol>* backward;
  } neighbour_;
};

}  // namespace kernbench::pe
