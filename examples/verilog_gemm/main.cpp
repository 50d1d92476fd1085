// SPDX-License-Identifier: Apache-2.0
// A matrix unit in Verilog under our PE: data and cycles are the array's own.
#include "SystolicArray.h"  // before SystemC, or Verilator takes this for a SystemC model of its own

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/pe/tlm_engine_registers.h"

namespace reg = kernbench::engine_registers;

/// The registers in front of the array, and what feeds it.
class SystolicEngine : public sc_core::sc_module {
 public:
  static constexpr int kCells = 8;  // a side of the array
  tlm_utils::simple_target_socket<SystolicEngine> socket{"socket"};
  tlm_utils::simple_initiator_socket<SystolicEngine> tcm{"tcm"};
  uint64_t commands = 0, cycles = 0;

  explicit SystolicEngine(const sc_core::sc_module_name& name) : sc_module(name), registers_(reg::kEnd) {
    socket.register_b_transport(this, &SystolicEngine::b_transport);
  }
  ~SystolicEngine() override { array_.final(); }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    if (!p.is_write() || p.get_address() + p.get_data_length() > registers_.size())
      return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    std::memcpy(registers_.data() + p.get_address(), p.get_data_ptr(), p.get_data_length());
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    if (p.get_address() != reg::kDoorbell) return;
    const bool done = multiply();
    wait(delay + sc_core::sc_time(static_cast<double>(cycles_), sc_core::SC_NS));  // 1 GHz
    delay = sc_core::SC_ZERO_TIME;
    if (!done) p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }

  uint64_t get(uint64_t offset) const {
    uint64_t value;
    std::memcpy(&value, registers_.data() + offset, sizeof value);
    return value;
  }
  /// Element (row, column) of an operand, or of the result, in the PE's TCM.
  template <class T>
  bool move(tlm::tlm_command command, uint64_t block, int64_t row, int64_t column, T* value) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(get(block + reg::kAddress) + static_cast<uint64_t>(row) * get(block + reg::kStride) +
                  static_cast<uint64_t>(column) * get(block + reg::kStride + 8));
    p.set_data_ptr(reinterpret_cast<unsigned char*>(value));
    p.set_data_length(sizeof *value);
    p.set_streaming_width(sizeof *value);
    return tcm->transport_dbg(p) == sizeof *value;  // the array's buffers are filled beside its work: no time
  }

  bool multiply() {
    constexpr uint64_t kA = reg::kOperand, kB = reg::kOperand + reg::kOperandBytes;
    cycles_ = 0;
    ++commands;
    // An array of i8, and of nothing else.
    const uint64_t i8 = reg::dtype_code(kernbench::DType::i8), i32 = reg::dtype_code(kernbench::DType::i32);
    if (!(get(reg::kFlags) & reg::kData) || get(kA + reg::kDtype) != i8 || get(kB + reg::kDtype) != i8 ||
        get(reg::kResult + reg::kDtype) != i32)
      return false;
    const auto m = static_cast<int64_t>(get(reg::kM)), n = static_cast<int64_t>(get(reg::kN)),
               k = static_cast<int64_t>(get(reg::kK));
    std::vector<int8_t> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t l = 0; l < k; ++l)
        if (!move(tlm::TLM_READ_COMMAND, kA, i, l, &a[static_cast<size_t>(i * k + l)])) return false;
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        if (!move(tlm::TLM_READ_COMMAND, kB, l, j, &b[static_cast<size_t>(l * n + j)])) return false;
    for (int64_t i = 0; i < m; i += kCells)
      for (int64_t j = 0; j < n; j += kCells)
        if (!pass(a, b, i, j, m, n, k)) return false;
    cycles += cycles_;
    return true;
  }

  /// The part of the result whose first element is (i, j): once through the array.
  bool pass(const std::vector<int8_t>& a, const std::vector<int8_t>& b, int64_t i, int64_t j, int64_t m, int64_t n,
            int64_t k) {
    array_.start = 1;
    array_.k = static_cast<uint32_t>(k);
    clock();
    array_.start = 0;
    while (array_.busy) {
      ++cycles_;
      if (array_.valid) {
        if (!add_row(i + array_.row, j, m, n)) return false;
      } else {
        uint8_t left[kCells] = {}, top[kCells] = {};
        const int64_t step = array_.step;
        for (int64_t x = 0; x < kCells && step < k; ++x) {
          if (i + x < m) left[x] = static_cast<uint8_t>(a[static_cast<size_t>((i + x) * k + step)]);
          if (j + x < n) top[x] = static_cast<uint8_t>(b[static_cast<size_t>(step * n + j + x)]);
        }
        std::memcpy(&array_.a, left, kCells);
        std::memcpy(&array_.b, top, kCells);
      }
      clock();
    }
    return true;
  }
  /// A row of results, beside or on top of what is there.
  bool add_row(int64_t row, int64_t first, int64_t m, int64_t n) {
    for (int64_t x = 0; x < kCells && row < m && first + x < n; ++x) {
      int32_t sum = 0;
      if ((get(reg::kFlags) & reg::kAccumulate) && !move(tlm::TLM_READ_COMMAND, reg::kResult, row, first + x, &sum))
        return false;
      sum += static_cast<int32_t>(array_.c[static_cast<size_t>(x)]);
      if (!move(tlm::TLM_WRITE_COMMAND, reg::kResult, row, first + x, &sum)) return false;
    }
    return true;
  }
  void clock() {
    array_.clk = 0;
    array_.eval();
    array_.clk = 1;
    array_.eval();
  }

  SystolicArray array_;
  std::vector<unsigned char> registers_;
  uint64_t cycles_ = 0;  // of the command
};

int sc_main(int argc, char** argv) try {
  kernbench::Platform device("device", std::string(argc > 1 ? argv[1] : "system.yaml"));
  SystolicEngine engine("engine");
  kernbench::TlmEngine& gemm = device.tlm_engine("pe0.pe_gemm");
  gemm.socket().bind(engine.socket);
  engine.tcm.bind(gemm.tcm_socket());
  for (const char* kernel : {"gemm", "gemm_dot"}) {
    engine.commands = engine.cycles = 0;
    kernbench::RunOptions options;
    options.kernel = kernel;
    options.params = {{"dtype", "i8"}, {"m", "64"}, {"n", "64"}, {"k", "96"}};
    options.verify = true;
    const kernbench::RunReport report = kernbench::run_kernel(device, std::move(options));
    std::cout << report.kernel << ": " << report.end_ns << " ns, " << (report.passed ? "verified" : "wrong") << ", "
              << engine.commands << " commands, " << engine.cycles << " cycles of the array\n";
    if (!report.passed) return 1;
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "verilog_gemm: " << e.what() << "\n";
  return 2;
}
