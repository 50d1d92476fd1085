// SPDX-License-Identifier: Apache-2.0
// A complete PE as one module, for systems made by hand: this project's blocks with their parameters, and the standard
// edges between them. Its DMA connects it to the memories:
//
//   ProcessingElement pe("pe", system, parameters);
//   connect(pe.dma, router, {0.01, 256});
//
// PEs with a pe_ipcq send each other messages through connected ports: connect_ports(). A PE with user-defined blocks
// is assembled in the same way (pe_assembly.h).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/context.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/pe_assembly.h"
#include "kernbench/systemc_models/pe/pe_cpu.h"
#include "kernbench/systemc_models/pe/pe_dma.h"
#include "kernbench/systemc_models/pe/pe_fetch_store.h"
#include "kernbench/systemc_models/pe/pe_gemm.h"
#include "kernbench/systemc_models/pe/pe_ipcq.h"
#include "kernbench/systemc_models/pe/pe_math.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"

namespace kernbench::pe {

/// Parameters without a default (of cores and TCM) must be set.
struct ProcessingElementParameters {
  PeCpu::Parameters cpu;
  PeScheduler::Parameters scheduler;
  PeDma::Parameters dma;
  PeFetchStore::Parameters fetch_store;
  PeGemm::Parameters gemm;
  PeMath::Parameters math;
  PeTcm::Parameters tcm;
  std::optional<PeMmu::Parameters> mmu;         ///< none: physical addresses only
  std::optional<PeIpcq::Parameters> ipcq = {};  ///< none: no messages to other PEs
};

class ProcessingElement;

/// Connects a port of PE `a` with one of PE `b`, by two queues.
struct PortConnection {
  ProcessingElement* a = nullptr;
  std::string port;
  ProcessingElement* b = nullptr;
  std::string peer_port;
};
/// Connects the queues of the next kernels on these PEs, as a launch does (collectives rules §10.1 to §10.4): at no
/// cost, with empty rings in the memory of the receivers' tiers (lay_rings_in). The rings are freed with their kernels.
/// Call it after the start of the simulation, because paths must be bound. `launch`: a new number for each set of
/// kernels on the same PEs. std::invalid_argument, with one line, for illegal input; AccessError if there is no path.
void connect_ports(const std::vector<PortConnection>&, uint64_t launch = 0);

class ProcessingElement : public sc_core::sc_module {
  Pe pe_;

 public:
  using Parameters = ProcessingElementParameters;
  PeCpu cpu;
  PeScheduler scheduler;
  PeDma dma;
  PeFetchStore fetch_store;
  PeGemm gemm;
  PeMath math;
  PeTcm tcm;
  std::optional<PeMmu> mmu;
  std::optional<PeIpcq> ipcq;

  /// std::invalid_argument, with one line, for an illegal parameter.
  ProcessingElement(const sc_core::sc_module_name& name, System& system, const Parameters&);

  /// Starts the kernel now. on_end is called when it has returned and all its commands are complete, or with its fault.
  /// One kernel at a time.
  void run(std::function<void(tl::Context&)> kernel, std::function<void(const KernelRunner::Outcome&)> on_end);
  Pe& pe() { return pe_; }
  /// Allocator of rings of tier hbm or sram in a memory of that space. It must outlive the PE, and may be shared.
  /// connect_ports() allocates; the kernel's end frees. std::invalid_argument for tcm, which has its own allocator.
  void lay_rings_in(Space, FirstFitAllocator& room);

 private:
  friend void connect_ports(const std::vector<PortConnection>&, uint64_t launch);
  size_t add_port(std::vector<QueuePort>&, const std::string& name);
  void give_back_rings();
  std::map<Space, FirstFitAllocator*> rooms_;
  std::vector<std::pair<FirstFitAllocator*, uint64_t>> rings_;  ///< until the end of the kernel
};

}  // namespace kernbench::pe
