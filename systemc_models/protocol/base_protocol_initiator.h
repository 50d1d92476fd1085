// SPDX-License-Identifier: Apache-2.0
// Transactions of the project at a foreign TLM-2.0 target, with payloads of its own. request_channel.h implements the
// protocol. Payloads have a memory manager; their data belong to the transfer.
#pragma once

#include <memory>
#include <string>
#include <tlm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/protocol/request_channel.h"

namespace kernbench::protocol {

/// One transaction. It belongs to the caller, who keeps it until its completion is reported.
struct ForeignTransfer {
  bool write = false;
  uint64_t address = 0;
  uint8_t* data = nullptr;
  unsigned nbytes = 0;
  std::vector<uint8_t> enables;  ///< by byte, TLM_BYTE_ENABLED or not; empty: all are enabled
  TimedCall done;
  tlm::tlm_generic_payload* foreign = nullptr;  ///< its extensions travel with the transaction and back; null: none
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
};

class BaseProtocolInitiator : public tlm::tlm_bw_transport_if<>,
                              public tlm::tlm_mm_interface,
                              private RequestChannel::Client {
 public:
  /// `index`: of the block, to order events of one instant. `target`: name of the target in messages.
  BaseProtocolInitiator(Timeline& timeline, uint32_t index, std::string target, EndResp end_resp = EndResp::updated)
      : target_(std::move(target)), channel_(timeline, index, *this, end_resp) {}
  ~BaseProtocolInitiator() override;
  /// Receiver of requests; null if nothing is bound.
  void set_forward(tlm::tlm_fw_transport_if<>* fw) { channel_.set_forward(fw); }
  tlm::tlm_fw_transport_if<>* forward() const { return channel_.forward(); }

  /// Queues the transfer. Call it on the timeline.
  void start(ForeignTransfer& t);
  /// Number of bytes that the target's debug transport accepted or returned.
  unsigned debug(bool write, uint64_t address, uint8_t* data, unsigned nbytes);

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return channel_.nb_transport_bw(p, phase, delay);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  void free(tlm::tlm_generic_payload*) override;
  void responded(tlm::tlm_generic_payload&) override;
  std::string target_name() const override { return target_; }
  tlm::tlm_generic_payload* take_payload();

  const std::string target_;
  RequestChannel channel_;
  std::unordered_map<const tlm::tlm_generic_payload*, ForeignTransfer*> under_way_;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
};

}  // namespace kernbench::protocol
