// SPDX-License-Identifier: Apache-2.0
// The TLM-2.0 base protocol towards a foreign initiator at the edge of a platform: LT, AT, debug transport and DMI on
// one interface. Ports (host/port.h), blocks of the fabric (foreign_entry.h) and the host's socket
// (platform/launch/host_interface.h) have one each. docs/tlm.md is the guide. In short:
//
// Time. With either transport, a request is issued at sc_time_stamp() + delay. It takes as long as one of a pe_dma,
// without that one's overhead: LT = AT. b_transport waits for the end and returns with delay 0, so a temporally
// decoupled initiator is synchronised. If fewer than `outstanding` transactions are in flight, nb_transport returns
// END_REQ (TLM_UPDATED) for BEGIN_REQ. Otherwise it returns TLM_ACCEPTED and sends END_REQ later. BEGIN_RESP comes when
// the transaction is done; END_RESP frees its place.
//
// Atomics. A TLM_IGNORE_COMMAND with an AtomicExtension is executed as an atomic at the end of the memory's service.
// Other transactions with this command have no effect. A write with a MulticastExtension writes to all its
// destinations.
//
// Data. A write commits, and a read samples, when the memory serves it (DataMover). Unwritten bytes read as 0. Errors
// are response statuses without time (TLM_COMPLETED), except reads of pending bytes, which take their normal time.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/protocol/multicast_extension.h"  // for users of ports and host sockets
#include "kernbench/systemc_models/protocol/payload_access.h"
#include "kernbench/systemc_models/protocol/response_channel.h"

namespace kernbench::fabric {
class ForeignNeighbour;
}
namespace kernbench::protocol {
struct AtomicExtension;
}

namespace kernbench::memory {

/// Addresses that the socket itself serves, in no time, or that lead to other addresses.
class LocalWindow {
 public:
  virtual ~LocalWindow() = default;
  /// The address in the device of an access to `address`.
  virtual uint64_t translate(uint64_t address, uint64_t nbytes) const = 0;
  virtual bool holds(uint64_t address) const = 0;
  /// Executes the transaction at its time, on the timeline. Returns the response status.
  virtual tlm::tlm_response_status access(tlm::tlm_generic_payload&) = 0;
};

class BaseProtocolTarget : public tlm::tlm_fw_transport_if<>, public DmiUser, private ResponseChannel::Client {
 public:
  struct Settings {
    uint32_t outstanding = 0;  ///< limit of transactions in flight; 0: none
    bool allow_dmi = false;
    unsigned bus_bytes = 4;  ///< width of the socket; DMI latencies are those of an isolated access of that many bytes
  };
  /// Issues into `requests` in the name of `owner`, whose op log gets the records. The owner's context is a System.
  BaseProtocolTarget(Component& owner, RequestPort& requests, const Settings&);
  ~BaseProtocolTarget() override;
  /// The receiver of responses; null if nothing is bound.
  void set_backward(tlm::tlm_bw_transport_if<>* bw) { responses_.set_backward(bw); }

  void set_local(LocalWindow* local) { local_ = local; }

  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override;

  Component& owner() const { return owner_; }
  /// Reason of the last error response; empty if there was none. One line.
  const std::string& last_error() const { return last_error_; }
  /// Transactions that have not ended.
  size_t under_way() const { return accesses_.size(); }
  /// Ends all transactions that are under way, now, with TLM_GENERIC_ERROR_RESPONSE. A write that no memory has served
  /// has no effect. `why`: for last_error().
  void reset(const std::string& why);
  /// The same as text, one line each.
  std::vector<std::string> waiting() const;

  void invalidate(uint64_t first, uint64_t last) override;
  void write_now(const MemoryWindow&, uint64_t address, const uint8_t* bytes, uint64_t nbytes) override;

 private:
  struct Access;
  /// Null if the transaction cannot be served; the payload's status is then set. `ignored`: it needs no action.
  std::unique_ptr<Access> decode(tlm::tlm_generic_payload&, bool* ignored);
  void fail(tlm::tlm_generic_payload&, tlm::tlm_response_status, const std::string& why);
  void issue_at(Access&, double t_ns);
  void due(Access&);
  bool has_room() const { return settings_.outstanding == 0 || taken_ < settings_.outstanding; }
  void end_request(Access&);
  void grant(Access&);
  bool decode_multicast(Access&);
  struct Arrived;
  void move_bytes(Arrived&);
  std::unique_ptr<Access> decode_atomic(tlm::tlm_generic_payload&, const AtomicExtension&);
  void do_atomic(Access&, AtomicExtension&);
  void write(Access&, const PayloadRange&);
  void read(Access&, const PayloadRange&);
  ForeignRecord commit(const MemoryWindow&, uint64_t address, const uint8_t* bytes, uint64_t nbytes);
  bool may_be_pointed_to(const MemoryWindow&) const;
  /// The first foreign block on the path to an address, or null. `ns`: time of the path there and back.
  ForeignNeighbour* block_before(uint64_t address, bool write, double* ns = nullptr) const;
  bool point_past(ForeignNeighbour&, double way_ns, tlm::tlm_generic_payload&, tlm::tlm_dmi&);
  /// Time of the access that defines the DMI latency; NaN beyond a foreign block. AccessError if there is no path.
  double lone_ns(bool write, uint64_t address) const;
  void complete(Access&);
  void withdraw(Access&, const std::string& why);
  void end_withdrawn(Access&);
  uint64_t address_of(const tlm::tlm_generic_payload& p) const {
    return local_ ? local_->translate(p.get_address(), p.get_data_length()) : p.get_address();
  }
  void forget(const tlm::tlm_generic_payload&);
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
  std::vector<std::unique_ptr<Access>> withdrawn_;  ///< answered by a reset, and still in the fabric
  uint64_t decoded_ = 0;                            ///< transactions so far
  uint32_t taken_ = 0;                              ///< used places of `outstanding`
  std::deque<Access*> waiting_;                     ///< transactions that wait for a place
  std::string last_error_;
};

}  // namespace kernbench::memory
