// SPDX-License-Identifier: Apache-2.0
// User-defined engines for tests. They get commands only from the registers of docs/tlm.md, and data only over the
// socket.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/systemc_models/pe/tlm_engine_registers.h"
#include "tlm_support.h"

namespace kernbench::testing {

namespace reg = engine_registers;

/// The registers, and arithmetic over the TCM. Derived classes determine the time.
class EngineModel : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket_optional<EngineModel> tcm{"tcm"};
  std::vector<uint8_t> registers = std::vector<uint8_t>(reg::kEnd + 64, 0xee);
  std::function<double(const EngineModel&)> ns = [](const EngineModel&) { return 10.0; };
  double off_by = 0;              ///< added to every element of a result, to distinguish it from Phase 2's
  uint64_t leave_out = ~0ull;     ///< the element of the result that it does not write
  bool timed_accesses = false;    ///< with b_transport; else with debug transport
  bool runs_ahead = false;        ///< passes the delay of each access to the next one (temporal decoupling)
  uint64_t fails_at = ~0ull;      ///< offset of the access that gets an error response
  uint64_t base = 0;              ///< of the registers
  std::vector<double> doorbells;  ///< times of the doorbells
  uint64_t writes = 0, largest = 0;
  double access_ns = 0;  ///< total time of the last command's accesses
  std::string fault;     ///< fault of an access to the TCM

  explicit EngineModel(sc_core::sc_module_name name) : sc_module(name) {
    tcm.register_nb_transport_bw(this, &EngineModel::nb_transport_bw);
  }
  uint64_t get(uint64_t offset) const {
    uint64_t value;
    std::memcpy(&value, registers.data() + offset, sizeof value);
    return value;
  }
  std::string op(int index = 0) const {
    const auto* text = reinterpret_cast<const char*>(registers.data() + reg::kOp + 8 * static_cast<uint64_t>(index));
    return std::string(text, strnlen(text, 8));
  }
  bool flag(uint64_t f) const { return (get(reg::kFlags) & f) != 0; }

 protected:
  /// A register access. Returns true if it rang the doorbell.
  bool serve(tlm::tlm_generic_payload& p) {
    const uint64_t at = p.get_address() - base;
    if (at == fails_at || p.get_address() < base || at + p.get_data_length() > registers.size()) {
      p.set_response_status(at == fails_at ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return false;
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    if (p.is_read()) {
      std::memcpy(p.get_data_ptr(), registers.data() + at, p.get_data_length());
      return false;
    }
    ++writes;
    largest = std::max<uint64_t>(largest, p.get_data_length());
    std::memcpy(registers.data() + at, p.get_data_ptr(), p.get_data_length());
    if (at != reg::kDoorbell) return false;
    EXPECT_EQ(get(reg::kDoorbell), 1u);
    doorbells.push_back(now_ns());
    return true;
  }

  /// Reads operands, computes, writes the result.
  void compute() {
    access_ns = 0;
    ahead_ = sc_core::SC_ZERO_TIME;
    if (!flag(reg::kData)) return;
    op() == "gemm" ? gemm() : math();
  }

  tlm::tlm_response_status touch(bool write, uint64_t address, uint8_t* bytes, size_t n) {
    tlm::tlm_generic_payload p;
    p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(bytes);
    p.set_data_length(static_cast<unsigned>(n));
    p.set_streaming_width(static_cast<unsigned>(n));
    if (!timed_accesses) return tcm->transport_dbg(p) == n ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE;
    sc_core::sc_time delay = runs_ahead ? ahead_ : sc_core::SC_ZERO_TIME;
    const sc_core::sc_time before = delay;
    tcm->b_transport(p, delay);
    ahead_ = delay;
    access_ns += (delay - before).to_seconds() * 1e9;
    return p.get_response_status();
  }

 private:
  struct Element {
    DType dtype;
    uint64_t address;
  };
  DType dtype_of(uint64_t block) const { return static_cast<DType>(get(block + reg::kDtype) - 1); }
  double read(uint64_t block, const std::vector<uint64_t>& at) {
    if (get(block + reg::kDtype) == 0) {
      const uint64_t bits = get(block + reg::kImmediate);
      double v;
      std::memcpy(&v, &bits, sizeof v);
      return v;
    }
    uint8_t bytes[8];
    const DType t = dtype_of(block);
    if (touch(false, address(block, at), bytes, size_of(t)) != tlm::TLM_OK_RESPONSE)
      fault = "an operand cannot be read";
    return load_scalar(bytes, t);
  }
  void write(uint64_t block, const std::vector<uint64_t>& at, double value) {
    if (written_++ == leave_out) return;
    uint8_t bytes[8];
    const DType t = dtype_of(block);
    store_scalar(value + off_by, t, bytes);
    if (touch(true, address(block, at), bytes, size_of(t)) != tlm::TLM_OK_RESPONSE)
      fault = "the result cannot be written";
  }
  uint64_t address(uint64_t block, const std::vector<uint64_t>& at) const {
    uint64_t a = get(block + reg::kAddress);
    for (size_t d = 0; d < at.size(); ++d) a += at[d] * get(block + reg::kStride + 8 * d);
    return a;
  }
  static uint64_t operand(uint64_t i) { return reg::kOperand + i * reg::kOperandBytes; }

  void gemm() {
    written_ = 0;
    for (uint64_t i = 0; i < get(reg::kM); ++i) {
      for (uint64_t j = 0; j < get(reg::kN); ++j) {
        double sum = flag(reg::kAccumulate) ? read(reg::kResult, {i, j}) : 0;
        for (uint64_t l = 0; l < get(reg::kK); ++l) sum += read(operand(0), {i, l}) * read(operand(1), {l, j});
        write(reg::kResult, {i, j}, sum);
      }
    }
  }

  void math() {
    written_ = 0;
    std::vector<uint64_t> shape, at(get(reg::kRank), 0);
    for (uint64_t d = 0; d < get(reg::kRank); ++d) shape.push_back(get(reg::kShape + 8 * d));
    const uint64_t axis = get(reg::kAxis);
    const std::string name = op();
    const bool reduces = name == "sum" || name == "max";
    for (bool more = true; more;) {
      double v[3] = {};
      for (uint64_t i = 0; i < get(reg::kOperands); ++i) v[i] = read(operand(i), at);
      double result;
      if (name == "add") {
        result = v[0] + v[1];
      } else if (name == "mul") {
        result = v[0] * v[1];
      } else if (name == "fma") {
        result = v[0] * v[1] + v[2];
      } else if (name == "rsqrt") {
        result = 1 / std::sqrt(v[0]);
      } else if (name == "cast") {
        result = v[0];
      } else if (reduces) {
        const double before = at[axis] == 0 ? (name == "sum" ? 0 : v[0]) : read(reg::kResult, at);
        result = name == "sum" ? before + v[0] : std::max(before, v[0]);
      } else {
        fault = "no op of this engine: " + name;
        return;
      }
      write(reg::kResult, at, result);
      size_t d = at.size();
      while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
      more = d > 0;
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
    return tlm::TLM_ACCEPTED;
  }
  uint64_t written_ = 0;
  sc_core::sc_time ahead_;
};

/// Has only b_transport: waits, or annotates.
class LtEngine : public EngineModel {
 public:
  tlm_utils::simple_target_socket<LtEngine> socket{"socket"};
  bool annotates = false;
  bool never = false;  ///< never responds to the doorbell
  explicit LtEngine(sc_core::sc_module_name name) : EngineModel(name) {
    socket.register_b_transport(this, &LtEngine::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    if (!serve(p)) return;
    if (never) wait(sc_core::sc_event());
    compute();
    const sc_core::sc_time took(ns(*this), sc_core::SC_NS);
    if (annotates) {
      delay += took;
    } else {
      wait(delay + took);
      delay = sc_core::SC_ZERO_TIME;
    }
  }
};

/// AT; alternates between all legal ways to respond, with the same time in each.
class AtEngine : public EngineModel, public tlm::tlm_fw_transport_if<> {
 public:
  tlm::tlm_target_socket<> socket{"socket"};
  explicit AtEngine(sc_core::sc_module_name name) : EngineModel(name) {
    socket.bind(*this);
    SC_HAS_PROCESS(AtEngine);
    SC_THREAD(run);
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    const int way = requests_++ % 5;
    double took = 0;
    if (serve(p)) {
      compute();
      took = ns(*this);
    }
    if (way < 2) {  // both phases at once; BEGIN_RESP returned
      delay += sc_core::sc_time(took, sc_core::SC_NS);
      if (way == 0) return tlm::TLM_COMPLETED;
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    p.acquire();
    queue_.push_back({&p, way, took});
    wake_.notify(sc_core::SC_ZERO_TIME);
    if (way != 2) return tlm::TLM_ACCEPTED;  // 3: END_REQ by call, 4: omitted
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void run() {
    for (;;) {
      while (queue_.empty()) wait(wake_);
      const Request r = queue_.front();
      queue_.pop_front();
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay;
      if (r.way == 3) socket->nb_transport_bw(*r.payload, phase, delay);
      wait(sc_core::sc_time(r.ns, sc_core::SC_NS));
      phase = tlm::BEGIN_RESP;
      socket->nb_transport_bw(*r.payload, phase, delay);
      r.payload->release();
    }
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) override { serve(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  struct Request {
    tlm::tlm_generic_payload* payload;
    int way;
    double ns;
  };
  std::deque<Request> queue_;
  sc_core::sc_event wake_;
  int requests_ = 0;
};

/// Responds to the doorbell at once, works, raises its interrupt, and lowers it on request.
class InterruptingEngine : public EngineModel {
 public:
  tlm_utils::simple_target_socket<InterruptingEngine> socket{"socket"};
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> interrupt{"interrupt"};
  uint64_t status = 0;     ///< when it is done
  double doorbell_ns = 0;  ///< delay of the response to the doorbell
  int false_alarms = 0;    ///< interrupts before the command is done, as from another device on the line
  bool silent = false;     ///< never raises it
  explicit InterruptingEngine(sc_core::sc_module_name name) : EngineModel(name) {
    socket.register_b_transport(this, &InterruptingEngine::b_transport);
    SC_HAS_PROCESS(InterruptingEngine);
    SC_THREAD(run);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    const uint64_t at = p.get_address() - base;
    if (!serve(p)) {
      if (p.is_write() && at == reg::kInterrupt) interrupt.write(false);
      return;
    }
    set_status(reg::kBusy);
    rung_.notify(sc_core::SC_ZERO_TIME);
    delay += sc_core::sc_time(doorbell_ns, sc_core::SC_NS);
  }
  void set_status(uint64_t value) { std::memcpy(registers.data() + reg::kStatus, &value, sizeof value); }
  void run() {
    for (;;) {
      wait(rung_);
      compute();
      const sc_core::sc_time took(ns(*this) / (false_alarms + 1), sc_core::SC_NS);
      for (int i = 0; i < false_alarms; ++i) {
        wait(took);
        interrupt.write(true);
        wait(sc_core::SC_ZERO_TIME);
        interrupt.write(false);
      }
      wait(took);
      set_status(status);
      if (!silent) interrupt.write(true);
    }
  }
  sc_core::sc_event rung_;
};

}  // namespace kernbench::testing
