// SPDX-License-Identifier: Apache-2.0
// A PE's TCM as an engine of the user's own sees it while it works on a command: a TLM-2.0 target over the ranges in
// which the command's operands and its result lie. Handles are values, so operands are what they held at the command's
// submission, whatever the addresses are used for by then; what is written is the result.
// An access takes what the TCM needs for its bytes, which it is asked for; debug transport nothing; there is no DMI.
#pragma once

#include <tlm>
#include <vector>

#include "kernbench/phase2/op/op.h"
#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/pe/pe_port.h"
#include "kernbench/systemc_models/protocol/response_channel.h"

namespace kernbench::pe {

class TcmWindow : public tlm::tlm_fw_transport_if<>, private ResponseChannel::Client {
 public:
  explicit TcmWindow(Component& owner);
  /// By which port the TCM is asked, and for which item.
  void set_tcm(PePort& tcm, PeItem& item) {
    tcm_ = &tcm;
    item_ = &item;
  }
  /// Where responses go; null where nothing is bound.
  void set_backward(tlm::tlm_bw_transport_if<>* backward) { responses_.set_backward(backward); }

  struct Range {
    uint64_t address = 0;
    Bytes bytes;
  };
  /// What can be accessed from now on. `result`'s bytes are what a read of it gives until it is written.
  void open(std::vector<Range> operands, Range result);
  /// Nothing from now on. What the result's range holds, and which of its bytes have been written.
  struct Result {
    Bytes bytes;
    std::vector<bool> written;
  };
  Result close();

  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override;

 private:
  tlm::tlm_response_status access(tlm::tlm_generic_payload&);
  /// What the access takes that begins then.
  double access_ns(const tlm::tlm_generic_payload&, double from_ns) const;
  double begins_ns(const sc_core::sc_time& delay) const;
  void due(tlm::tlm_generic_payload&);
  void served(tlm::tlm_generic_payload& p) { responses_.send(p); }
  Order order() const { return Order(Order::kEngines, ~0u, owner_.index()); }
  void response_ended(tlm::tlm_generic_payload&) override;

  Component& owner_;
  PePort* tcm_ = nullptr;
  PeItem* item_ = nullptr;
  ResponseChannel responses_;
  double exact_end_ns_ = 0;  ///< of the last access by b_transport, of which the engine knows a tick
  sc_core::sc_time told_end_;
  bool open_ = false;
  std::vector<Range> operands_;
  Range result_;
  std::vector<bool> written_;
};

}  // namespace kernbench::pe
