// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/tcm_window.h"

#include <algorithm>
#include <cstring>

#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench::pe {
namespace {

bool holds(const TcmWindow::Range& r, const PayloadRange& p) {
  return p.address() >= r.address && p.nbytes() <= r.bytes.size() &&
         p.address() - r.address <= r.bytes.size() - p.nbytes();
}

}  // namespace

TcmWindow::TcmWindow(Component& owner) : owner_(owner), responses_(owner.timeline(), owner.index(), *this) {}

void TcmWindow::open(std::vector<Range> operands, Range result) {
  open_ = true;
  operands_ = std::move(operands);
  result_ = std::move(result);
  written_.assign(result_.bytes.size(), false);
}

TcmWindow::Result TcmWindow::close() {
  open_ = false;
  operands_.clear();
  return {std::move(result_.bytes), std::move(written_)};
}

tlm::tlm_response_status TcmWindow::access(tlm::tlm_generic_payload& p) {
  p.set_dmi_allowed(false);
  if (p.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_OK_RESPONSE;
  const tlm::tlm_response_status bad = check_payload(p);
  if (bad != tlm::TLM_OK_RESPONSE) return bad;
  const PayloadRange range(p);
  if (!open_) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (p.is_write()) {
    if (!holds(result_, range)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const std::vector<uint8_t> bytes = range.collect(p);
    range.for_each_run([&](const PayloadRange::Run& run) {
      const uint64_t at = run.address - result_.address;
      std::memcpy(result_.bytes.data() + at, bytes.data() + (run.address - range.address()), run.nbytes);
      std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(at), run.nbytes, true);
    });
    return tlm::TLM_OK_RESPONSE;
  }
  // Operands first: if the result overlaps an operand, that operand keeps its old value.
  const Range* from = holds(result_, range) ? &result_ : nullptr;
  for (const Range& r : operands_) {
    if (holds(r, range)) from = &r;
  }
  if (!from) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  range.spread(from->bytes.data() + (range.address() - from->address), p);
  return tlm::TLM_OK_RESPONSE;
}

double TcmWindow::access_ns(const tlm::tlm_generic_payload& p, double from_ns) const {
  const bool moves = p.get_response_status() == tlm::TLM_OK_RESPONSE && p.get_command() != tlm::TLM_IGNORE_COMMAND;
  return moves ? tcm_->ask(*item_, p.get_data_length(), p.is_write(), from_ns) : 0;
}

void TcmWindow::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  p.set_response_status(access(p));
  const double begin_ns = begins_ns(delay);
  exact_end_ns_ = begin_ns + access_ns(p, begin_ns);
  told_end_ = sc_core::sc_time(exact_end_ns_, sc_core::SC_NS);
  delay = told_end_ - sc_core::sc_time_stamp();
}

/// An access directly after another begins at that one's exact end, so that fractions of a tick accumulate.
double TcmWindow::begins_ns(const sc_core::sc_time& delay) const {
  return sc_core::sc_time_stamp() + delay == told_end_ ? exact_end_ns_ : owner_.timeline().after(delay);
}

unsigned TcmWindow::transport_dbg(tlm::tlm_generic_payload& p) {
  if (p.get_command() == tlm::TLM_IGNORE_COMMAND) return 0;
  return access(p) == tlm::TLM_OK_RESPONSE ? p.get_data_length() : 0;
}

bool TcmWindow::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
  dmi.init();
  return false;
}

// ---- AT: bytes move when the request has arrived; the response follows after their transfer time

tlm::tlm_sync_enum TcmWindow::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  const auto wrong = [this](const char* what) {
    SC_REPORT_ERROR("/kernbench/tlm", (owner_.id() + ": " + what).c_str());
  };
  if (phase == tlm::END_RESP) {
    if (!responses_.end_response(p, delay)) wrong("END_RESP at its TCM socket without a response that waits for it");
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // a phase outside the base protocol, which may be ignored
  if (p.has_mm()) p.acquire();
  Timeline& timeline = owner_.timeline();
  timeline.at(timeline.after(delay), order(), call<&TcmWindow::due>(*this, p));
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void TcmWindow::due(tlm::tlm_generic_payload& p) {
  p.set_response_status(access(p));
  Timeline& timeline = owner_.timeline();
  const double now = timeline.now_ns();
  timeline.at(now + access_ns(p, now), order(), call<&TcmWindow::served>(*this, p));
}

void TcmWindow::response_ended(tlm::tlm_generic_payload& p) {
  if (p.has_mm()) p.release();
}

}  // namespace kernbench::pe
