// SPDX-License-Identifier: Apache-2.0
// Models a PE's processor: the cost of a command for the submitting kernel, overhead_ns + dispatch_cycles / freq_ghz;
// the cost of the kernel's scalar work; and the path of commands to the scheduler. Timing rules §5. kernel_runner.h
// runs the kernel; pe_control.h handles the host's messages. Does not model instructions, or queues between the
// processor and the scheduler.
#pragma once

#include "kernbench/systemc_models/fabric/control_message.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/roles.h"

namespace kernbench::pe {

struct PeCpuParameters : BlockParameters {
  double dispatch_cycles = 0, read_cycles = 0, freq_ghz = 1;
  double poll_ns = 100;
  double scalar_cycles = 1, index_cycles = 1;
  double materialize_kb = 64, materialize_mb = 64, materialize_mops = 1000;  ///< limits of tl.materialize
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeCpuParameters::dispatch_cycles, "dispatch_cycles", "cycles",
             "issue cost of each tl call, added to its overhead")
        .latency(Resource::pe_cpu);
    list.add(&PeCpuParameters::read_cycles, "read_cycles", "cycles", "cost of each loaded element that a kernel reads")
        .latency(Resource::kernel);
    list.add(&PeCpuParameters::scalar_cycles, "scalar_cycles", "cycles",
             "cost of each scalar operation of a Triton kernel (docs/triton.md)")
        .latency(Resource::kernel);
    list.add(&PeCpuParameters::index_cycles, "index_cycles", "cycles",
             "cost of each of its operations on a block of indices, addresses or masks")
        .latency(Resource::kernel);
    list.add(&PeCpuParameters::freq_ghz, "freq_ghz", "GHz", "clock of these cycles and of tl.elapse")
        .rate(Resource::kernel);
    list.add(&PeCpuParameters::poll_ns, "poll_ns", "ns",
             "interval from a poll's completion to the next poll, in tl.wait_until")
        .latency(Resource::polling);
    list.add(&PeCpuParameters::materialize_kb, "materialize_kb", "KiB", "limit of one tl.materialize")
        .positive()
        .max(1e9);
    list.add(&PeCpuParameters::materialize_mb, "materialize_mb", "MiB",
             "limit of the results that all ops computed for it may produce")
        .positive()
        .max(1e9);
    list.add(&PeCpuParameters::materialize_mops, "materialize_mops", "10^6",
             "limit of arithmetic operations computed for it")
        .positive()
        .max(1e9);
  }
};

class PeCpu : public Component, public PeBlock, public CpuRole, public FabricNode, public ControlTarget {
 public:
  using Parameters = PeCpuParameters;
  CommandInitiatorSocket command_out{"command_out", *this};
  FabricTargetSocket in{"in", *this};  ///< for the host's messages

  PeCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec();

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  void join(Pe& pe) override { pe_ = &pe; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void leads_to(PePort& out, PeBlock& next) override;
  tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&) override;

  // FabricNode, ControlTarget.
  FabricNode* fabric_node() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  bool takes_memory_traffic() const override { return false; }
  void message_arrived(ControlMessage&) override;

  // CpuRole.
  void attach(KernelRunner& runner) override { runner_ = &runner; }
  double command_ns() const override { return command_ns_; }
  double cycles_ns(double cycles) const override { return cycles / freq_ghz_; }
  double read_ns() const override { return read_ns_; }
  ScalarCycles scalar_cycles() const override { return scalar_cycles_; }
  /// The scheduler's submission queue is never full.
  void submit(PeItem& item) override { scheduler_->send(item); }
  bool submit_to_queues(PeItem& item) override {
    if (queues_) queues_->send(item);
    return queues_ != nullptr;
  }
  double poll_ns() const override { return poll_ns_; }
  MaterializeLimits materialize_limits() const override { return materialize_limits_; }

 private:
  Pe* pe_ = nullptr;
  KernelRunner* runner_ = nullptr;
  PePort* scheduler_ = nullptr;
  PePort* queues_ = nullptr;  ///< to pe_ipcq; null: none
  double freq_ghz_, command_ns_, read_ns_, poll_ns_;
  ScalarCycles scalar_cycles_;
  MaterializeLimits materialize_limits_;
};

}  // namespace kernbench::pe
