// SPDX-License-Identifier: Apache-2.0
// A PE's TCM as seen by a foreign engine during a command: a TLM-2.0 target over the ranges of the command's operands
// and result. Operands have the values of the command's submission, even if their addresses were reused since. Written
// bytes are the result. An access takes the time that the TCM reports for its bytes. Debug transport takes no time.
// There is no DMI.
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
  /// The port for queries to the TCM, and their item.
  void set_tcm(PePort& tcm, PeItem& item) {
    tcm_ = &tcm;
    item_ = &item;
  }
  /// Receiver of responses; null if nothing is bound.
  void set_backward(tlm::tlm_bw_transport_if<>* backward) { responses_.set_backward(backward); }

  struct Range {
    uint64_t address = 0;
    Bytes bytes;
  };
  /// The accessible ranges from now on. Unwritten bytes of the result read as `result`'s bytes.
  void open(std::vector<Range> operands, Range result);
  /// Ends all access. Returns the contents of the result's range and which of its bytes were written.
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
  /// Time of an access that begins then.
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
  double exact_end_ns_ = 0;  ///< of the last access by b_transport; the engine sees it rounded to ticks
  sc_core::sc_time told_end_;
  bool open_ = false;
  std::vector<Range> operands_;
  Range result_;
  std::vector<bool> written_;
};

}  // namespace kernbench::pe
