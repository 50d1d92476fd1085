// A whole PE as one module, for who builds a system by hand: this project's blocks with their parameters, and the
// standard edges between them. What it reads and writes is reached by its DMA:
//
//   ProcessingElement pe("pe", system, parameters);
//   connect(pe.dma, router, {0.01, 256});
//
// PEs with a pe_ipcq send each other messages by ports that have been joined: connect_ports(). A PE of blocks of one's
// own is put together in the same way (pe_assembly.h).
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

namespace kernbench {

/// Those without a default (of cores and TCM) have to be set.
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

/// Joins a port of PE `a` with one of PE `b`, by two queues.
struct PortConnection {
  ProcessingElement* a = nullptr;
  std::string port;
  ProcessingElement* b = nullptr;
  std::string peer_port;
};
/// Connects the queues of the kernels that run next on these PEs, as a launch does (collectives contract §10.1 to
/// §10.4): at no cost, with empty rings where the receivers' tiers say (lay_rings_in), which go with their kernels.
/// When the simulation has begun, since the ways must be bound. `launch`: another number for each set of kernels of the
/// same PEs. std::invalid_argument, one line, for what is not legal; AccessError where there is no way.
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

  /// std::invalid_argument, one line, for a parameter that is not legal.
  ProcessingElement(const sc_core::sc_module_name& name, System& system, const Parameters&);

  /// Starts the kernel now; on_end is told when it has returned and all its commands are complete, or of its fault. One
  /// kernel at a time.
  void run(std::function<void(tl::Context&)> kernel, std::function<void(const KernelRunner::Outcome&)> on_end);
  Pe& pe() { return pe_; }
  /// Rings of tier hbm or sram lie in this room of a memory of that space, which outlives the PE and which others may
  /// share: taken by connect_ports(), given back at the kernel's end. std::invalid_argument for tcm, whose room is its
  /// own.
  void lay_rings_in(Space, FirstFitAllocator& room);

 private:
  friend void connect_ports(const std::vector<PortConnection>&, uint64_t launch);
  size_t add_port(std::vector<QueuePort>&, const std::string& name);
  void give_back_rings();
  std::map<Space, FirstFitAllocator*> rooms_;
  std::vector<std::pair<FirstFitAllocator*, uint64_t>> rings_;  ///< until the kernel's end
};

}  // namespace kernbench
