// The other side of base_protocol_target.h: transactions that the project starts at a foreign TLM-2.0 target, as an
// initiator of the base protocol with nb_transport (4 phases and every shortcut that a target may take). A target that
// only has b_transport is served through its simple_target_socket's conversion.
//
// One request at a time (BEGIN_REQ exclusion), any number under way. BEGIN_RESP is answered TLM_COMPLETED; it may come
// without END_REQ. Payloads have a memory manager; their data stay with the transfer.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench {

/// One transaction to be done; the caller's, who keeps it until done() is called.
struct ForeignTransfer {
  bool write = false;
  uint64_t address = 0;
  uint8_t* data = nullptr;
  unsigned nbytes = 0;
  void (*done)(void* context, ForeignTransfer&) = nullptr;
  void* context = nullptr;
  tlm::tlm_generic_payload* foreign = nullptr;  ///< its extensions go with the transaction, and back; null: none
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
};

class BaseProtocolInitiator : public tlm::tlm_bw_transport_if<>, public tlm::tlm_mm_interface {
 public:
  /// `index`: of the block, for the order of what happens at one instant.
  BaseProtocolInitiator(Timeline& timeline, uint32_t index) : timeline_(timeline), index_(index) {}
  ~BaseProtocolInitiator() override;
  /// Where requests go; null where nothing is bound.
  void set_forward(tlm::tlm_fw_transport_if<>* fw) { forward_ = fw; }
  tlm::tlm_fw_transport_if<>* forward() const { return forward_; }

  /// Queues the transfer; to be called on the timeline.
  void start(ForeignTransfer& t);
  /// Bytes that the target's debug transport took or gave.
  unsigned debug(bool write, uint64_t address, uint8_t* data, unsigned nbytes);

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload*) override;

 private:
  void request_next();
  void request_ends(tlm::tlm_generic_payload&, double at_ns);
  static void request_ended(void* self, void*);
  static void completed(void* self, void* payload);
  static void end_response(void* self, void* payload);
  tlm::tlm_generic_payload* take_payload();

  Timeline& timeline_;
  uint32_t index_;
  tlm::tlm_fw_transport_if<>* forward_ = nullptr;
  std::deque<ForeignTransfer*> waiting_;
  tlm::tlm_generic_payload taken_;  ///< stands for a request that has ended in time to come
  tlm::tlm_generic_payload* requesting_ = nullptr;
  std::unordered_map<const tlm::tlm_generic_payload*, ForeignTransfer*> under_way_;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
};

}  // namespace kernbench
