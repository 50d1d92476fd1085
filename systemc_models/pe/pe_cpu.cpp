// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_cpu.h"

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/pe_control.h"

namespace kernbench::pe {

PeCpu::PeCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      PeBlock(static_cast<Component&>(*this)),
      FabricNode(static_cast<Component&>(*this)),
      freq_ghz_(parameters.freq_ghz),
      command_ns_(parameters.overhead_ns + parameters.dispatch_cycles / parameters.freq_ghz),
      read_ns_(parameters.read_cycles / parameters.freq_ghz),
      poll_ns_(parameters.poll_ns),
      scalar_cycles_{parameters.scalar_cycles, parameters.index_cycles} {
  materialize_limits_.result_bytes = static_cast<uint64_t>(parameters.materialize_kb * 1024);
  materialize_limits_.computed_bytes = static_cast<uint64_t>(parameters.materialize_mb * 1024 * 1024);
  materialize_limits_.operations = parameters.materialize_mops * 1e6;
}

ImplSpec PeCpu::spec() {
  return spec_of<Parameters>("builtin.pe_cpu", "pe_cpu", "a PE's processor, which runs a kernel")
      .overhead_is(Resource::pe_cpu)
      .leads_to({"pe_scheduler", "pe_ipcq"})
      .bound_without_edge_to({"pe_mmu"});
}

void PeCpu::leads_to(PePort& out, PeBlock& next) {
  if (dynamic_cast<SchedulerRole*>(&next)) scheduler_ = &out;
  if (dynamic_cast<IpcqRole*>(&next)) queues_ = &out;
}

tlm::tlm_sync_enum PeCpu::answer_in(PeItem& item, PePort&, tlm::tlm_phase& phase) {
  if (phase == tlm::BEGIN_RESP) runner_->complete(*item.command);
  if (phase == tlm::END_REQ) runner_->sent(*item.command);
  return tlm::TLM_COMPLETED;
}

void PeCpu::message_arrived(ControlMessage& m) {
  take_message(m, *pe_);
}

KERNBENCH_REGISTER_COMPONENT(PeCpu)

}  // namespace kernbench::pe
