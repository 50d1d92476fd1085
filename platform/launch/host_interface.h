// SPDX-License-Identifier: Apache-2.0
// The host's side of a PCIe endpoint, as a foreign CPU sees a device: memory and registers behind one target socket, a
// DMA that accesses host memory through an initiator socket, and an interrupt. docs/tlm.md explains the registers.
//
// Addresses below 2^51 are physical addresses of the device's memories; accesses are requests of the pcie_ep (timing
// rules §2, `outstanding`). The registers begin at kRegisters: 8 bytes each, for aligned accesses of 4 or 8 bytes. An
// access takes no time of its own, but its effect does (a launch leaves the host at that instant). For 32-bit CPUs, the
// pcie_ep's attributes register_bar and memory_bar give registers and a window of device memory addresses below 4 GiB.
//
// Launches wait in a queue for each set of PEs (attribute launch_queue), first come, first served: a job starts when no
// running job, and no job that has waited longer, uses any of its PEs.
//
// Does not model PCIe configuration space, MSI, host page tables, or DMA descriptors in memory.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/launch/launch.h"
#include "kernbench/systemc_models/memory/base_protocol_target.h"
#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench::launch {

class HostDma;
class LaunchHost;

class HostInterface : public sc_core::sc_module, private LocalWindow {
 public:
  static constexpr uint64_t kRegisters = uint64_t{1} << 51;  ///< address of the first register
  static constexpr uint64_t kRegisterBytes = 4096;           ///< size of their window
  enum Register : uint64_t {
    kId = 0x00,               ///< ro: kIdValue
    kDoorbell = 0x08,         ///< wo: number of a job to start (add_job)
    kStatus = 0x10,           ///< ro: Status bits
    kLaunchesDone = 0x18,     ///< ro: launches whose response the host has received
    kInterrupt = 0x20,        ///< rw: pending Interrupt bits; writing a 1 clears one
    kInterruptEnable = 0x28,  ///< rw: Interrupt bits that raise the signal; initially all
    kDmaDevice = 0x30,        ///< rw: address in the device
    kDmaHost = 0x38,          ///< rw: address in host memory
    kDmaBytes = 0x40,         ///< rw: length
    kDmaCommand = 0x48,       ///< wo: DmaCommand
    kJob = 0x50,              ///< rw: number of the job that the next three registers show
    kJobState = 0x58,         ///< ro: JobState
    kJobError = 0x60,         ///< ro: HostError of its last completion (fabric/control_address.h); 0: none
    kJobCompletions = 0x68,   ///< ro: its completions, failed and aborted ones included
    kAbort = 0x70,            ///< wo: number of a job to abort, or to take from the queue
    kReset = 0x78,            ///< wo: ResetPart << 32 | index in the device (compiled order)
    kWindow = 0x80,           ///< rw: device address of the first byte of memory_bar
  };
  static constexpr uint64_t kIdValue = 0x00010000'4b424348;  ///< "HCBK", version 1
  enum Status : uint64_t { kLaunchRunning = 1, kDmaRunning = 2, kLaunchFailed = 4, kDmaFailed = 8 };
  enum Interrupt : uint64_t { kLaunchDone = 1, kDmaDone = 2 };
  enum DmaCommand : uint64_t { kToHost = 1, kToDevice = 2 };
  enum JobState : uint64_t { kIdle = 0, kQueued = 1, kRunning = 2, kDone = 3, kFailed = 4, kAborted = 5 };
  enum ResetPart : uint64_t { kDevice = 0, kCube = 1, kPe = 2 };

  /// For the pcie_ep at that node; the host directory creates it.
  HostInterface(sc_core::sc_module_name name, LaunchHost& host, uint32_t pcie_ep);
  ~HostInterface() override;

  /// Socket for a CPU. W: the pcie_ep's attribute bus_width.
  template <unsigned W = 32>
  OptionalTargetSocket<W>& socket() const {
    return socket_.as<W>();
  }
  /// Socket to host memory, for DMA.
  template <unsigned W = 32>
  OptionalInitiatorSocket<W>& dma_socket() const {
    return dma_socket_.as<W>();
  }
  /// True while an enabled interrupt is pending.
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  /// Optional: a falling edge resets the device; while it is low, doorbells are refused.
  sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> reset_n{"reset_n"};
  /// Ends a job as the register kAbort does. std::out_of_range for an unknown number.
  void abort(uint64_t job);
  /// Resets the device as the register kReset does (launch/reset.h); empties the queue, and sets the registers to their
  /// first values.
  void reset();

  /// Registers a job for the doorbell; it must outlive the simulation. Returns its number, from 0.
  uint64_t add_job(Launchable& job);
  /// Reason why the last access, launch or DMA failed; empty if it did not. One line.
  const std::string& last_error() const { return error_.empty() ? transport_.last_error() : error_; }

 private:
  void end_of_elaboration() override;
  bool holds(uint64_t address) const override { return offset_of(address) < kRegisterBytes; }
  uint64_t offset_of(uint64_t address) const {
    return address >= kRegisters ? address - kRegisters : register_bar_ > 0 ? address - register_bar_ : kRegisterBytes;
  }
  uint64_t translate(uint64_t address, uint64_t nbytes) const override;
  tlm::tlm_response_status access(tlm::tlm_generic_payload&) override;
  tlm::tlm_response_status write(uint64_t reg, uint64_t value);
  uint64_t read(uint64_t reg) const;
  uint64_t status() const;
  tlm::tlm_response_status start_job(uint64_t number);
  struct Entry {
    Launchable* job = nullptr;
    JobState state = kIdle;
    uint64_t error = 0, completions = 0;
  };
  bool waits(const Launchable& job, const std::vector<uint64_t>& ahead) const;
  void start(uint64_t number);
  void start_queued();
  void end(Entry&);
  void reset_now();
  tlm::tlm_response_status write_reset(uint64_t value);
  tlm::tlm_response_status start_dma(uint64_t command);
  void raise(uint64_t bits);
  void update_interrupt();
  tlm::tlm_response_status refuse(const std::string& why);

  BaseProtocolTarget transport_;
  WideTargetSocket socket_;
  BaseProtocolInitiator dma_initiator_;
  WideInitiatorSocket dma_socket_;
  std::unique_ptr<HostDma> dma_;
  LaunchHost& host_;
  const std::string device_;  ///< id of the SIP; empty: the machine is flat
  const uint32_t queue_depth_;
  const uint64_t register_bar_, memory_bar_;  ///< 0: none
  const uint64_t memory_bar_bytes_;
  std::deque<Entry> jobs_;
  std::vector<uint64_t> queue_;  ///< numbers of waiting jobs, the first one first
  uint64_t job_ = 0, window_ = 0;
  uint64_t running_ = 0, launches_done_ = 0;
  bool launch_failed_ = false, dma_failed_ = false;
  uint64_t pending_ = 0, enabled_ = kLaunchDone | kDmaDone;
  uint64_t dma_device_ = 0, dma_host_ = 0, dma_bytes_ = 0;
  std::string error_;
};

}  // namespace kernbench::launch
