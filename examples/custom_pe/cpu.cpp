// SPDX-License-Identifier: Apache-2.0
// Models: a processor whose commands cost less the more of them follow each other at once: the first after a wait costs
// first_ns, the others next_ns.
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/control_message.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/pe_control.h"

namespace {
using namespace kernbench;

struct BurstCpuParameters : BlockParameters {
  double first_ns = 4, next_ns = 1;
  template <class List>
  static void describe(List& list) {
    list.add(&BurstCpuParameters::first_ns, "first_ns", "ns", "cost of a command when none is under way").latency();
    list.add(&BurstCpuParameters::next_ns, "next_ns", "ns", "cost of a command behind others").latency();
  }
};

class BurstCpu : public Component, public PeBlock, public CpuRole, public FabricNode, public ControlTarget {
 public:
  using Parameters = BurstCpuParameters;
  CommandInitiatorSocket command_out{"command_out", *this};
  FabricTargetSocket in{"in", *this};  // for the host's messages

  BurstCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Component(name, config, checked(p)),
        PeBlock(static_cast<Component&>(*this)),
        FabricNode(static_cast<Component&>(*this)),
        parameters_(p) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.burst_cpu", "pe_cpu", "sends commands in bursts"); }

  PeBlock* pe_block() override { return this; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void join(Pe& pe) override { pe_ = &pe; }
  void leads_to(PePort& out, PeBlock& next) override {
    if (dynamic_cast<SchedulerRole*>(&next)) scheduler_ = &out;
    if (dynamic_cast<IpcqRole*>(&next)) queues_ = &out;
  }
  tlm::tlm_sync_enum answer_in(PeItem& item, PePort&, tlm::tlm_phase& phase) override {
    if (phase == tlm::BEGIN_RESP) {  // the command is complete
      --under_way_;
      runner_->complete(*item.command);
    }
    if (phase == tlm::END_REQ) runner_->sent(*item.command);  // a send's last segment has its slot
    return tlm::TLM_COMPLETED;
  }

  // Launches, and mappings of virtual memory, come as messages of the host.
  FabricNode* fabric_node() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  bool takes_memory_traffic() const override { return false; }
  void message_arrived(ControlMessage& m) override { take_message(m, *pe_); }

  void attach(KernelRunner& runner) override { runner_ = &runner; }
  double command_ns() const override { return under_way_ ? parameters_.next_ns : parameters_.first_ns; }
  void submit(PeItem& item) override {
    ++under_way_;
    scheduler_->send(item);
  }
  bool submit_to_queues(PeItem& item) override {
    if (queues_ == nullptr) return false;
    ++under_way_;
    queues_->send(item);
    return true;
  }

 private:
  const Parameters parameters_;
  Pe* pe_ = nullptr;
  KernelRunner* runner_ = nullptr;
  PePort *scheduler_ = nullptr, *queues_ = nullptr;
  unsigned under_way_ = 0;
};

KERNBENCH_REGISTER_COMPONENT(BurstCpu)
}  // namespace

KERNBENCH_PLUGIN("pe")
