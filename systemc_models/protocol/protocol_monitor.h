// SPDX-License-Identifier: Apache-2.0
// Monitors one connection of the TLM-2.0 base protocol and passes everything on unchanged. It checks these rules of
// IEEE 1666-2011:
//
// - phases: BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP in this order and direction; END_REQ may be omitted (15.2.4). One
//   request and one response at a time (15.2.6). Legal return values (11.1.2.5, 15.2.5).
// - time: never decreases for a transaction, or from a call to its return (15.2.7).
// - payload: initialised (14.7 ff.), changed only by permitted parties, and not used twice at a time (14.7). Data of a
//   write belong to the initiator; extensions are unchanged (14.21).
// - response: set when a response is sent, and unchanged afterwards (14.17).
// - memory manager: set, and the payload alive, for nb_transport (14.5).
// - waiting: none in nb_transport, debug transport and DMI; b_transport only from threads (11.1, 11.2, 11.3).
//
// ProtocolChecker (protocol_checker.h) puts a monitor between two sockets. With the build option KERNBENCH_CHECK_TLM
// every port, host socket and foreign memory has one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::protocol {

class ProtocolMonitor : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  using Report = std::function<void(const std::string& violation)>;
  /// `name` begins every violation's message. Without `report`, violations are SystemC warnings of type
  /// "/kernbench/protocol": the first of each kind, and at destruction their numbers.
  explicit ProtocolMonitor(std::string name, Report report = {});
  ~ProtocolMonitor() override;

  void set_forward(tlm::tlm_fw_transport_if<>* target) { target_ = target; }
  void set_backward(tlm::tlm_bw_transport_if<>* initiator) { initiator_ = initiator; }
  void set_report(Report report) { report_ = std::move(report); }
  uint64_t violations() const { return violations_; }
  uint64_t calls() const { return calls_; }
  /// Non-blocking transactions in flight.
  size_t under_way() const { return hops_.size(); }

  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;

 private:
  /// Fields that must not change.
  struct Fields {
    tlm::tlm_command command;
    const unsigned char *data, *enables;
    unsigned length, enable_length, width;
    uint64_t written, enabled;  ///< checksums of a write's data and of its byte enables
    std::vector<const tlm::tlm_extension_base*> extensions;
  };
  struct Hop {
    tlm::tlm_phase_enum phase = tlm::BEGIN_REQ;
    sc_core::sc_time time;
    Fields fields;
    tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;
  };
  static Fields fields_of(tlm::tlm_generic_payload&);
  void check_initialised(const tlm::tlm_generic_payload&);
  void check_unchanged(const Fields&, tlm::tlm_generic_payload&);
  void check_time(Hop&, const sc_core::sc_time& delay);
  void check_no_wait(const sc_core::sc_time& time, uint64_t delta, const char* call);
  void check_returned(tlm::tlm_sync_enum, const tlm::tlm_phase& before, const tlm::tlm_phase& after,
                      const sc_core::sc_time& delay_before, const sc_core::sc_time& delay_after);
  void response_begins(tlm::tlm_generic_payload&, Hop&);
  void response_ends(tlm::tlm_generic_payload&);
  void violation(const std::string& text);

  std::string name_;
  Report report_;
  tlm::tlm_fw_transport_if<>* target_ = nullptr;
  tlm::tlm_bw_transport_if<>* initiator_ = nullptr;
  std::unordered_map<const tlm::tlm_generic_payload*, Hop> hops_;
  std::unordered_map<const tlm::tlm_generic_payload*, int> blocking_;
  const tlm::tlm_generic_payload *request_ = nullptr, *response_ = nullptr;  ///< on the channel
  uint64_t violations_ = 0, calls_ = 0;
  std::map<std::string, uint64_t> kinds_;  ///< numbers of violations, by their texts without numbers
};

}  // namespace kernbench::protocol
