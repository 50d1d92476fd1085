// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/protocol/protocol_monitor.h"

#include <algorithm>

namespace kernbench::protocol {
namespace {

uint64_t checksum(const unsigned char* bytes, unsigned n) {
  uint64_t h = 14695981039346656037ull;
  for (unsigned i = 0; bytes && i < n; ++i) h = (h ^ bytes[i]) * 1099511628211ull;
  return h;
}

const char* name_of(const tlm::tlm_phase& phase) {
  switch (static_cast<unsigned>(phase)) {
    case tlm::BEGIN_REQ:
      return "BEGIN_REQ";
    case tlm::END_REQ:
      return "END_REQ";
    case tlm::BEGIN_RESP:
      return "BEGIN_RESP";
    case tlm::END_RESP:
      return "END_RESP";
    case tlm::UNINITIALIZED_PHASE:
      return "UNINITIALIZED_PHASE";
    default:
      return "an extended phase";
  }
}

bool base_phase(const tlm::tlm_phase& phase) {
  return static_cast<unsigned>(phase) <= tlm::END_RESP;
}

}  // namespace

ProtocolMonitor::ProtocolMonitor(std::string name, Report report)
    : name_(std::move(name)), report_(std::move(report)) {}

void ProtocolMonitor::violation(const std::string& text) {
  ++violations_;
  const std::string line = name_ + ": " + text;
  if (report_) return report_(line);
  std::string kind = text;
  kind.erase(std::remove_if(kind.begin(), kind.end(), [](char c) { return c >= '0' && c <= '9'; }), kind.end());
  if (++kinds_[kind] == 1) SC_REPORT_WARNING("/kernbench/protocol", line.c_str());
}

ProtocolMonitor::~ProtocolMonitor() {
  for (const auto& [kind, count] : kinds_) {
    if (count == 1) continue;
    try {
      SC_REPORT_WARNING("/kernbench/protocol", (name_ + ": " + std::to_string(count) + " times: " + kind).c_str());
    } catch (const std::exception&) {  // thrown by a user's report handler
    }
  }
}

ProtocolMonitor::Fields ProtocolMonitor::fields_of(tlm::tlm_generic_payload& p) {
  Fields f;
  f.command = p.get_command();
  f.data = p.get_data_ptr();
  f.enables = p.get_byte_enable_ptr();
  f.length = p.get_data_length();
  f.enable_length = p.get_byte_enable_length();
  f.width = p.get_streaming_width();
  f.written = p.is_write() ? checksum(f.data, f.length) : 0;
  f.enabled = checksum(f.enables, f.enable_length);
  for (unsigned i = 0; i < tlm::max_num_extensions(); ++i) f.extensions.push_back(p.get_extension(i));
  return f;
}

void ProtocolMonitor::check_initialised(const tlm::tlm_generic_payload& p) {
  const auto command = p.get_command();
  if (command != tlm::TLM_READ_COMMAND && command != tlm::TLM_WRITE_COMMAND && command != tlm::TLM_IGNORE_COMMAND)
    violation("payload: a command that is none");
  if (command == tlm::TLM_READ_COMMAND || command == tlm::TLM_WRITE_COMMAND) {
    if (!p.get_data_ptr()) violation("payload: no data pointer");
    if (p.get_data_length() == 0) violation("payload: data length 0");
    if (p.get_streaming_width() == 0) violation("payload: streaming width 0");
    if (p.get_byte_enable_ptr() && p.get_byte_enable_length() == 0) violation("payload: byte enables of length 0");
  }
  if (p.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    violation("payload: the response status is not TLM_INCOMPLETE_RESPONSE at the start");
  if (p.is_dmi_allowed()) violation("payload: dmi_allowed is set at the start");
}

void ProtocolMonitor::check_unchanged(const Fields& before, tlm::tlm_generic_payload& p) {
  const Fields now = fields_of(p);
  const auto check = [&](bool same, const char* what) {
    if (!same) violation(std::string("payload: ") + what + " changed under way");
  };
  check(now.command == before.command, "the command");
  check(now.data == before.data, "the data pointer");
  check(now.length == before.length, "the data length");
  check(now.enables == before.enables, "the byte enable pointer");
  check(now.enable_length == before.enable_length, "the byte enable length");
  check(now.width == before.width, "the streaming width");
  check(now.enabled == before.enabled, "the byte enables");
  check(now.written == before.written, "the data of a write");
  for (size_t i = 0; i < before.extensions.size() && i < now.extensions.size(); ++i) {
    if (before.extensions[i] && before.extensions[i] != now.extensions[i]) check(false, "an extension");
  }
}

void ProtocolMonitor::check_time(Hop& hop, const sc_core::sc_time& delay) {
  const sc_core::sc_time time = sc_core::sc_time_stamp() + delay;
  if (time < hop.time)
    violation("time: " + time.to_string() + " after " + hop.time.to_string() + " for one transaction");
  hop.time = time;
}

void ProtocolMonitor::check_no_wait(const sc_core::sc_time& time, uint64_t delta, const char* call) {
  if (sc_core::sc_time_stamp() != time || sc_core::sc_delta_count() != delta)
    violation(std::string(call) + ": time passed inside");
}

void ProtocolMonitor::check_returned(tlm::tlm_sync_enum answer, const tlm::tlm_phase& before,
                                     const tlm::tlm_phase& after, const sc_core::sc_time& delay_before,
                                     const sc_core::sc_time& delay_after) {
  if (delay_after < delay_before) violation("time: the delay is less on return than at the call");
  if (answer != tlm::TLM_ACCEPTED) return;
  if (after != before || delay_after != delay_before) violation("TLM_ACCEPTED with a changed phase or delay");
}

void ProtocolMonitor::response_begins(tlm::tlm_generic_payload& p, Hop& hop) {
  if (request_ == &p) request_ = nullptr;  // END_REQ was omitted
  if (response_) violation("BEGIN_RESP while another response has not ended");
  response_ = &p;
  hop.phase = tlm::BEGIN_RESP;
  hop.response = p.get_response_status();
  if (hop.response == tlm::TLM_INCOMPLETE_RESPONSE) violation("payload: a response without a response status");
  check_unchanged(hop.fields, p);
}

void ProtocolMonitor::response_ends(tlm::tlm_generic_payload& p) {
  if (response_ == &p) response_ = nullptr;
  if (request_ == &p) request_ = nullptr;
  hops_.erase(&p);
}

tlm::tlm_sync_enum ProtocolMonitor::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  ++calls_;
  const tlm::tlm_phase before = phase;
  const sc_core::sc_time delay_before = delay, stamp = sc_core::sc_time_stamp();
  const uint64_t delta = sc_core::sc_delta_count();
  if (!p.has_mm()) violation("nb_transport_fw: the payload has no memory manager");
  if (p.has_mm() && p.get_ref_count() < 1) violation("nb_transport_fw: the payload's reference count is 0");
  const auto found = hops_.find(&p);
  if (before == tlm::BEGIN_REQ) {
    if (found != hops_.end()) violation("BEGIN_REQ of a payload that is under way");
    if (blocking_.count(&p)) violation("nb_transport_fw during b_transport with the same payload");
    if (request_ && request_ != &p) violation("BEGIN_REQ while another request has not ended");
    check_initialised(p);
    Hop& hop = hops_[&p];
    hop = Hop();
    hop.time = stamp + delay;
    hop.fields = fields_of(p);
    request_ = &p;
  } else if (before == tlm::END_RESP) {
    if (found == hops_.end() || found->second.phase != tlm::BEGIN_RESP) {
      violation("END_RESP without BEGIN_RESP");
    } else {
      check_time(found->second, delay);
      check_unchanged(found->second.fields, p);
      if (p.get_response_status() != found->second.response) violation("payload: the response status changed");
    }
    response_ends(p);
  } else if (base_phase(before)) {
    violation(std::string(name_of(before)) + " on the forward path");
  }

  const tlm::tlm_sync_enum answer = target_->nb_transport_fw(p, phase, delay);

  check_no_wait(stamp, delta, "nb_transport_fw");
  check_returned(answer, before, phase, delay_before, delay);
  if (before == tlm::END_RESP) {
    if (answer == tlm::TLM_UPDATED) violation("TLM_UPDATED in answer to END_RESP");
    return answer;
  }
  const auto it = hops_.find(&p);
  if (before != tlm::BEGIN_REQ || it == hops_.end()) return answer;
  Hop& hop = it->second;
  if (answer == tlm::TLM_COMPLETED) {
    check_time(hop, delay);
    if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
      violation("payload: a response without a response status");
    check_unchanged(hop.fields, p);
    response_ends(p);
  } else if (answer == tlm::TLM_UPDATED) {
    check_time(hop, delay);
    if (phase == tlm::END_REQ) {
      hop.phase = tlm::END_REQ;
      if (request_ == &p) request_ = nullptr;
    } else if (phase == tlm::BEGIN_RESP) {
      response_begins(p, hop);
    } else if (base_phase(phase)) {
      violation(std::string(name_of(phase)) + " returned in answer to BEGIN_REQ");
    }
  }
  return answer;
}

tlm::tlm_sync_enum ProtocolMonitor::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  ++calls_;
  const tlm::tlm_phase before = phase;
  const sc_core::sc_time delay_before = delay, stamp = sc_core::sc_time_stamp();
  const uint64_t delta = sc_core::sc_delta_count();
  const auto found = hops_.find(&p);
  if (base_phase(before)) {
    if (found == hops_.end()) {
      violation(std::string(name_of(before)) + " of a payload that is not under way");
    } else {
      Hop& hop = found->second;
      check_time(hop, delay);
      if (before == tlm::END_REQ) {
        if (hop.phase != tlm::BEGIN_REQ) violation("END_REQ out of order");
        hop.phase = tlm::END_REQ;
        if (request_ == &p) request_ = nullptr;
      } else if (before == tlm::BEGIN_RESP) {
        if (hop.phase == tlm::BEGIN_RESP) {
          violation("BEGIN_RESP a second time");
        } else {
          response_begins(p, hop);
        }
      } else {
        violation(std::string(name_of(before)) + " on the backward path");
      }
    }
  }

  const tlm::tlm_sync_enum answer = initiator_->nb_transport_bw(p, phase, delay);

  check_no_wait(stamp, delta, "nb_transport_bw");
  check_returned(answer, before, phase, delay_before, delay);
  if (before == tlm::END_REQ && answer != tlm::TLM_ACCEPTED) violation("END_REQ not answered by TLM_ACCEPTED");
  if (before != tlm::BEGIN_RESP) return answer;
  if (answer == tlm::TLM_UPDATED && phase != tlm::END_RESP && base_phase(phase))
    violation(std::string(name_of(phase)) + " returned in answer to BEGIN_RESP");
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) response_ends(p);
  return answer;
}

void ProtocolMonitor::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  ++calls_;
  if (p.has_mm() && p.get_ref_count() < 1) violation("b_transport: the payload's reference count is 0");
  if (hops_.count(&p) || blocking_.count(&p)) violation("b_transport with a payload that is under way");
  const auto kind = sc_core::sc_get_current_process_handle().proc_kind();
  if (kind == sc_core::SC_METHOD_PROC_) violation("b_transport from a method process");
  check_initialised(p);
  const Fields fields = fields_of(p);
  const sc_core::sc_time time = sc_core::sc_time_stamp() + delay;
  ++blocking_[&p];
  target_->b_transport(p, delay);
  blocking_.erase(&p);
  if (sc_core::sc_time_stamp() + delay < time) violation("time: b_transport returns before it was called");
  if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    violation("payload: a response without a response status");
  check_unchanged(fields, p);
}

unsigned ProtocolMonitor::transport_dbg(tlm::tlm_generic_payload& p) {
  ++calls_;
  const Fields fields = fields_of(p);
  const sc_core::sc_time stamp = sc_core::sc_time_stamp();
  const uint64_t delta = sc_core::sc_delta_count();
  if (p.get_data_length() > 0 && !p.get_data_ptr()) violation("transport_dbg: no data pointer");
  const unsigned n = target_->transport_dbg(p);
  check_no_wait(stamp, delta, "transport_dbg");
  if (n > p.get_data_length()) violation("transport_dbg: more bytes than were asked for");
  check_unchanged(fields, p);
  return n;
}

bool ProtocolMonitor::get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
  ++calls_;
  const uint64_t address = p.get_address();
  const bool write = p.is_write();
  const sc_core::sc_time stamp = sc_core::sc_time_stamp();
  const uint64_t delta = sc_core::sc_delta_count();
  const bool granted = target_->get_direct_mem_ptr(p, dmi);
  check_no_wait(stamp, delta, "get_direct_mem_ptr");
  if (dmi.get_start_address() > dmi.get_end_address())
    violation("get_direct_mem_ptr: a range that ends before it starts");
  if (!granted) return false;
  if (!dmi.get_dmi_ptr()) violation("get_direct_mem_ptr: granted without a pointer");
  if (address < dmi.get_start_address() || address > dmi.get_end_address())
    violation("get_direct_mem_ptr: the granted range does not hold the address");
  if (write ? !dmi.is_write_allowed() : !dmi.is_read_allowed())
    violation("get_direct_mem_ptr: granted, but not the access that was asked for");
  return true;
}

void ProtocolMonitor::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  ++calls_;
  if (first > last) violation("invalidate_direct_mem_ptr: a range that ends before it starts");
  initiator_->invalidate_direct_mem_ptr(first, last);
}

}  // namespace kernbench::protocol
