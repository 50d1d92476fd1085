// SPDX-License-Identifier: Apache-2.0
// A RISC-V CPU (Unicorn, an instruction-set emulator) drives the device: a bare-metal driver runs on it, what it reads
// and writes outside of its memory are transactions, the device's DMA reads and writes its memory, and the device's
// interrupt is its machine external one.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>
#include <unicorn/unicorn.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernbench/platform/job.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"

using sc_core::sc_time;

// The board's map of addresses, as the CPU sees it.
constexpr uint64_t kConsole = 0x10000000, kConsoleBytes = 0x1000;
constexpr uint64_t kRam = 0x80000000, kRamBytes = 1 << 20, kHandover = kRam + 0xf0000;
constexpr uint64_t kDevice = uint64_t{1} << 52;
constexpr uint64_t kDeviceBytes = kernbench::HostInterface::kRegisters + kernbench::HostInterface::kRegisterBytes;

struct Handover {  // to the driver; driver.c has the same
  uint64_t job, a, b, c;
};

/// What the driver prints, line by line with the time at which the line was begun, and its exit status.
class Console : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Console> socket{"socket"};
  std::optional<uint32_t> exit_status;

  explicit Console(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Console::b_transport);
  }

 private:
  static constexpr uint64_t kSerial = 0, kPowerOff = 4;

  void b_transport(tlm::tlm_generic_payload& p, sc_time& delay) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    if (p.is_write() && p.get_address() == kSerial && p.get_data_length() == 1) {
      const char c = static_cast<char>(*p.get_data_ptr());
      if (line_begins_) std::cout << sc_core::sc_time_stamp() + delay << ": ";
      std::cout << c;
      line_begins_ = c == '\n';
    } else if (p.is_write() && p.get_address() == kPowerOff && p.get_data_length() == 4) {
      uint32_t status = 0;
      std::memcpy(&status, p.get_data_ptr(), sizeof status);
      exit_status = status;
    } else {
      p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
  }

  bool line_begins_ = true;
};

/// One hart and its memory: one instruction a ns, temporally decoupled, machine mode, the external interrupt alone.
/// Unicorn has no interrupt line and does not sleep at wfi, so both are done here, between two instructions.
class Cpu : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Cpu> device{"device"}, console{"console"};
  tlm_utils::simple_target_socket<Cpu> memory{"memory"};  ///< for the device's DMA
  sc_core::sc_in<bool> interrupt{"interrupt"};

  Cpu(const sc_core::sc_module_name& name, const std::vector<char>& program, const Handover& handover)
      : sc_module(name), ram_(kRamBytes) {
    std::memcpy(ram_.data(), program.data(), program.size());
    std::memcpy(&ram_[kHandover - kRam], &handover, sizeof handover);
    check(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &uc_));
    check(uc_mem_map_ptr(uc_, kRam, kRamBytes, UC_PROT_ALL, ram_.data()));
    check(uc_mmio_map(uc_, kDevice, kDeviceBytes, &Cpu::read, &windows_[0], &Cpu::write, &windows_[0]));
    check(uc_mmio_map(uc_, kConsole, kConsoleBytes, &Cpu::read, &windows_[1], &Cpu::write, &windows_[1]));
    uc_hook hook = 0;
    check(uc_hook_add(uc_, &hook, UC_HOOK_CODE, reinterpret_cast<void*>(&Cpu::instruction), this, 1, 0));
    set(UC_RISCV_REG_A0, kHandover);
    memory.register_b_transport(this, &Cpu::access_memory);
    SC_HAS_PROCESS(Cpu);
    SC_THREAD(run);
    set_stack_size(1 << 22);  // the emulator runs on it
  }
  ~Cpu() override { uc_close(uc_); }
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  /// Why the program could not go on; empty: it could.
  const std::string& error() const { return error_; }

 private:
  static constexpr uint64_t kExternal = 11;                                 // in mie, and as the cause
  static constexpr uint64_t kMie = 1 << 3, kMpie = 1 << 7, kMpp = 3 << 11;  // in mstatus
  static constexpr uint64_t kNowhere = 1;                                   // no instruction has an odd address
  static constexpr uint32_t kWfi = 0x10500073;
  enum class Stop { none, sleep, trap };

  void run() {
    keeper_.reset();
    pc_ = kRam;
    while (true) {
      stop_ = Stop::none;
      const uc_err e = uc_emu_start(uc_, pc_, kNowhere, 0, 0);
      if (error_.empty() && stop_ == Stop::none) error_ = uc_strerror(e);
      if (!error_.empty()) {
        std::ostringstream where;
        where << ", at pc 0x" << std::hex << pc_;
        error_ += where.str();
        return;
      }
      if (stop_ == Stop::sleep) {
        keeper_.sync();
        while (!interrupt_pending()) wait(interrupt.value_changed_event());
        pc_ += 4;
      } else {
        enter_trap();
      }
    }
  }

  bool interrupt_pending() const { return interrupt.read() && (get(UC_RISCV_REG_MIE) >> kExternal & 1); }

  /// As the hart does for the external interrupt, instead of the instruction at pc_.
  void enter_trap() {
    const uint64_t status = get(UC_RISCV_REG_MSTATUS);
    set(UC_RISCV_REG_MEPC, pc_);
    set(UC_RISCV_REG_MCAUSE, uint64_t{1} << 63 | kExternal);
    set(UC_RISCV_REG_MSTATUS, (status & ~kMie) | kMpie | kMpp);
    pc_ = get(UC_RISCV_REG_MTVEC) & ~uint64_t{3};
  }

  /// Before each instruction, which is not begun where this stops the emulator.
  static void instruction(uc_engine* uc, uint64_t address, uint32_t size, void* self) {
    auto& cpu = *static_cast<Cpu*>(self);
    if (cpu.error_.empty()) cpu.stop_ = cpu.before(address, size);
    if (!cpu.error_.empty() || cpu.stop_ != Stop::none) uc_emu_stop(uc);
  }
  Stop before(uint64_t address, uint32_t size) {
    pc_ = address;
    // The instruction that clears mstatus.MIE may be the very next one, so no stretch of instructions goes unlooked at.
    if (interrupt_pending() && get(UC_RISCV_REG_MSTATUS) & kMie) return Stop::trap;
    keeper_.inc(sc_time(1, sc_core::SC_NS));
    if (keeper_.need_sync()) keeper_.sync();
    uint32_t code = 0;
    if (size == sizeof code) std::memcpy(&code, &ram_[address - kRam], sizeof code);
    return code == kWfi ? Stop::sleep : Stop::none;
  }

  struct Window {  // of addresses that are a socket's
    Cpu* cpu;
    tlm_utils::simple_initiator_socket<Cpu>* socket;
  };
  static uint64_t read(uc_engine*, uint64_t offset, unsigned size, void* window) {
    uint64_t value = 0;
    access(*static_cast<Window*>(window), tlm::TLM_READ_COMMAND, offset, &value, size);
    return value;
  }
  static void write(uc_engine*, uint64_t offset, unsigned size, uint64_t value, void* window) {
    access(*static_cast<Window*>(window), tlm::TLM_WRITE_COMMAND, offset, &value, size);
  }
  static void access(const Window& window, tlm::tlm_command command, uint64_t address, uint64_t* data, unsigned size) {
    Cpu& cpu = *window.cpu;
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(data));
    p.set_data_length(size);
    p.set_streaming_width(size);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_time delay = cpu.keeper_.get_local_time();
    (*window.socket)->b_transport(p, delay);
    cpu.keeper_.set(delay);
    if (!p.is_response_error()) return;
    // No exception may pass through the emulator.
    cpu.error_ = std::string(p.is_read() ? "read" : "write") + " of the " + window.socket->basename() + ": " +
                 p.get_response_string();
    uc_emu_stop(cpu.uc_);
  }

  void access_memory(tlm::tlm_generic_payload& p, sc_time& delay) {
    delay += sc_time(20, sc_core::SC_NS);
    const uint64_t n = p.get_data_length();
    if (p.get_address() < kRam || n > kRamBytes || p.get_address() - kRam > kRamBytes - n)
      return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    char* at = &ram_[p.get_address() - kRam];
    if (p.is_write()) {
      std::memcpy(at, p.get_data_ptr(), n);
    } else {
      std::memcpy(p.get_data_ptr(), at, n);
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  uint64_t get(int reg) const {
    uint64_t value = 0;
    check(uc_reg_read(uc_, reg, &value));
    return value;
  }
  void set(int reg, uint64_t value) { check(uc_reg_write(uc_, reg, &value)); }
  static void check(uc_err e) {
    if (e != UC_ERR_OK) throw std::runtime_error(uc_strerror(e));
  }

  std::array<Window, 2> windows_{{{this, &device}, {this, &console}}};
  uc_engine* uc_ = nullptr;
  std::vector<char> ram_;
  tlm_utils::tlm_quantumkeeper keeper_;
  uint64_t pc_ = 0;  ///< of the instruction that comes next
  Stop stop_ = Stop::none;
  std::string error_;
};

std::vector<char> read_program(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string text = bytes.str();
  const std::vector<char> program(text.begin(), text.end());
  if (program.empty()) throw std::runtime_error(path + ": cannot be read, or is empty");
  if (program.size() > kHandover - kRam)
    throw std::runtime_error(path + ": " + std::to_string(program.size()) + " bytes; at most " +
                             std::to_string(kHandover - kRam) + " have room");
  return program;
}

int sc_main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: riscv_host SYSTEM.yaml DRIVER.bin");
  tlm::tlm_global_quantum::instance().set(sc_time(100, sc_core::SC_NS));
  auto system = kernbench::topology::compile_file(argv[1], kernbench::component_catalog());
  // As `materialize: outputs` in the file: the results that are read back are computed first.
  system.materialize = kernbench::topology::Materialize::outputs;
  kernbench::Platform npu("npu", std::move(system));
  kernbench::HostInterface& host = npu.host();
  kernbench::Job add(npu, {"vector_add", {{"n", "64"}}, "sip0.cube0.pe0"});  // n: driver.c has the same
  const auto at = [&](const char* tensor) { return add.ranges(tensor).at(0).address; };

  Console console("console");
  Cpu cpu("cpu", read_program(argv[2]), {host.add_job(add), at("a"), at("b"), at("c")});
  cpu.device.bind(host.socket());
  cpu.console.bind(console.socket);
  host.dma_socket().bind(cpu.memory);
  cpu.interrupt.bind(host.interrupt);
  sc_core::sc_start();

  const std::string why = host.last_error().empty() ? "" : ": " + host.last_error();
  if (!cpu.error().empty()) throw std::runtime_error("the driver: " + cpu.error() + why);
  if (!console.exit_status) throw std::runtime_error("the driver sleeps, and nothing will wake it" + why);
  return *console.exit_status == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "riscv_host: " << e.what() << "\n";
  return 2;
}
