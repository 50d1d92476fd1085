// One connection of a PE's block to a neighbour by the protocol of pe_command.h.
#pragma once

#include <tlm>

#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench {

class PeBlock;

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

  /// For ask_ahead(): what a call of the neighbour touches first.
  void fetch_neighbour() const { fetch_lines(neighbour_.forward, 1); }

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

}  // namespace kernbench
