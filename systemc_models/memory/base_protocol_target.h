// SPDX-License-Identifier: Apache-2.0
// The TLM-2.0 base protocol as a foreign initiator sees it at the edge of a platform: LT, AT, debug transport and DMI
// on one interface. Ports (host/port.h), blocks of the fabric (foreign_entry.h) and the host's socket
// (platform/launch/host_interface.h) have one each. docs/tlm.md is the guide; in short:
//
// Time. A request is issued at sc_time_stamp() + delay, whichever transport it comes by, and is done when a pe_dma's
// (less that one's overhead) would be: LT = AT. b_transport waits for that and returns with delay 0: a temporally
// decoupled initiator is synchronised. nb_transport answers BEGIN_REQ with END_REQ (TLM_UPDATED) while fewer than
// `outstanding` transactions are under way, else TLM_ACCEPTED with END_REQ later; BEGIN_RESP comes when the transaction
// is done; the place is given back with END_RESP.
//
// Atomics. A TLM_IGNORE_COMMAND with an AtomicExtension is done as an atomic, at the end of the memory's service;
// others of this command do nothing.
//
// Data. A write commits, a read samples when the memory serves it (DataMover). Never-written bytes read as 0. Errors
// are response statuses and take no time (TLM_COMPLETED), but for reads of pending bytes, which take theirs.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/protocol/payload_access.h"
#include "kernbench/systemc_models/protocol/response_channel.h"

namespace kernbench::fabric {
class ForeignNeighbour;
}
namespace kernbench::protocol {
struct AtomicExtension;
}

namespace kernbench::memory {

/// Addresses that are served at the socket itself, in no time.
class LocalWindow {
 public:
  virtual ~LocalWindow() = default;
  virtual bool holds(uint64_t address) const = 0;
  /// Does it, at the transaction's time, on the timeline. The answer.
  virtual tlm::tlm_response_status access(tlm::tlm_generic_payload&) = 0;
};

class BaseProtocolTarget : public tlm::tlm_fw_transport_if<>, public DmiUser, private ResponseChannel::Client {
 public:
  struct Settings {
    uint32_t outstanding = 0;  ///< transactions under way at once; 0: any number
    bool allow_dmi = false;
    unsigned bus_bytes = 4;  ///< of the socket: DMI's latencies are those of a lone access of so many bytes
  };
  /// Issues into `requests`, in the name of `owner`, whose records the op log gets; its context is a System.
  BaseProtocolTarget(Component& owner, RequestPort& requests, const Settings&);
  ~BaseProtocolTarget() override;
  /// Where responses go; null where nothing is bound.
  void set_backward(tlm::tlm_bw_transport_if<>* bw) { responses_.set_backward(bw); }

  void set_local(LocalWindow* local) { local_ = local; }

  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override;

  Component& owner() const { return owner_; }
  /// Why the last transaction with an error response had one; empty if none had. One line.
  const std::string& last_error() const { return last_error_; }
  /// Transactions that have not ended.
  size_t under_way() const { return accesses_.size(); }
  /// The same, a line each.
  std::vector<std::string> waiting() const;

  void invalidate(uint64_t first, uint64_t last) override;
  void write_now(const MemoryWindow&, uint64_t address, const uint8_t* bytes, uint64_t nbytes) override;

 private:
  struct Access;
  /// Null, and the payload's status is set, where the transaction cannot be served; `ignored`: nothing is to be done.
  std::unique_ptr<Access> decode(tlm::tlm_generic_payload&, bool* ignored);
  void fail(tlm::tlm_generic_payload&, tlm::tlm_response_status, const std::string& why);
  void issue_at(Access&, double t_ns);
  void due(Access&);
  bool has_room() const { return settings_.outstanding == 0 || taken_ < settings_.outstanding; }
  void end_request(Access&);
  void grant(Access&);
  void move_bytes(Access&);
  std::unique_ptr<Access> decode_atomic(tlm::tlm_generic_payload&, const AtomicExtension&);
  void do_atomic(Access&, AtomicExtension&);
  void write(Access&, const PayloadRange&);
  void read(Access&, const PayloadRange&);
  ForeignRecord commit(const MemoryWindow&, uint64_t address, const uint8_t* bytes, uint64_t nbytes);
  bool may_be_pointed_to(const MemoryWindow&) const;
  /// The first foreign block on the way to an address; null: none is. `ns`: what the way there and back takes.
  ForeignNeighbour* block_before(uint64_t address, bool write, double* ns = nullptr) const;
  bool point_past(ForeignNeighbour&, double way_ns, tlm::tlm_generic_payload&, tlm::tlm_dmi&);
  /// Of the access that DMI's latency is; NaN past a block that is not of this project. AccessError: there is no way.
  double lone_ns(bool write, uint64_t address) const;
  void complete(Access&);
  void response_ended(tlm::tlm_generic_payload&) override;
  void give_back_place(const Access&);
  void protocol_error(const char* what) const;

  Component& owner_;
  System& system_;
  RequestPort& requests_;
  Settings settings_;
  LocalWindow* local_ = nullptr;
  ResponseChannel responses_;

  std::unordered_map<const tlm::tlm_generic_payload*, std::unique_ptr<Access>> accesses_;
  uint32_t taken_ = 0;           ///< places of `outstanding`
  std::deque<Access*> waiting_;  ///< for a place
  std::string last_error_;
};

}  // namespace kernbench::memory
