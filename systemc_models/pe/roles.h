// What a block of each kind does for the others of its PE, and for those who run kernels and report on it, beside what
// it does at its sockets. A class of one's own under `impl:` stands in for ours by deriving from these (and from
// PeBlock): nobody looks for more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/first_fit_allocator.h"
#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/graph/pending_values.h"
#include "kernbench/systemc_models/pe/mapping_table.h"
#include "kernbench/systemc_models/pe/pe_command.h"
#include "kernbench/systemc_models/pe/queue_ports.h"
#include "kernbench/systemc_models/pe/queue_statistics.h"

namespace kernbench {

class KernelRunner;

/// pe_cpu: sends the commands of kernels to the scheduler. To be launched it is a ControlTarget with a target socket
/// too (fabric/control_message.h), which hands what comes to take_message (pe_control.h).
class CpuRole {
 public:
  static constexpr const char* kKind = "pe_cpu";
  virtual ~CpuRole() = default;
  /// Who runs kernels here, before elaboration ends: to be told of completions (KernelRunner::complete).
  virtual void attach(KernelRunner&) = 0;
  /// What a command costs the kernel that submits it, ns.
  virtual double command_ns() const = 0;
  /// What the kernel's scalar work costs, ns: so many cycles (tl.elapse), and each element that it reads from a Loaded.
  virtual double cycles_ns(double cycles) const { return cycles; }  ///< unless it says otherwise: at 1 GHz
  virtual double read_ns() const { return 0; }
  /// From the completion of a poll to the next one's call (tl.wait_until), ns.
  virtual double poll_ns() const { return 100; }
  virtual ScalarCycles scalar_cycles() const { return {}; }
  /// Sends a command to the scheduler, now.
  virtual void submit(PeItem&) = 0;
  /// Sends a command of pe_ipcq there, now. False: there is no way.
  virtual bool submit_to_queues(PeItem&) { return false; }
  /// Bounds of tl.materialize.
  virtual MaterializeLimits materialize_limits() const { return {}; }
};

/// pe_scheduler: takes commands, dispatches them, feeds tiles, tells who submitted when a command is complete.
class SchedulerRole {
 public:
  static constexpr const char* kKind = "pe_scheduler";
  virtual ~SchedulerRole() = default;
  /// Checks a command at its submission. AccessError, one line, for what cannot be served.
  virtual void validate(PeCommand&) const = 0;
  /// Commands that are not complete; and one line for each thing that one waits for, for the report of a deadlock.
  virtual size_t outstanding() const = 0;
  virtual std::vector<std::string> waiting() const = 0;
  /// Tells an observer what it did up to end_ns: once, at the end of a run.
  virtual void settle(double /*end_ns*/) {}
};

/// What an engine did, for reports. Times in ns.
struct StageStatistics {
  Stage stage = Stage::dma_read;
  unsigned servers = 1;
  uint32_t queue_depth = 2;
  bool needs_slot = false;  ///< holds the PE's accel_slot while it serves
  uint64_t ops = 0, bytes = 0;
  double flops = 0;
  double peak_ns = 0;  ///< what these take at the engine's peak: GEMM; 0 where it does not say
  // Sum to servers × the time up to settle().
  double idle_ns = 0;        ///< no item
  double slot_wait_ns = 0;   ///< has an item, waits for the accel_slot
  double busy_ns = 0;        ///< in service
  double queue_full_ns = 0;  ///< has served an item, and the next queue has no room
  // Part of busy_ns (DMA).
  double link_wait_ns = 0, memory_wait_ns = 0;
};

/// Of a service of an engine that computes: overhead_ns, then the longest of these, which run at once. ns.
struct ServiceParts {
  double compute_ns = 0;
  double read_ns = 0, write_ns = 0;  ///< operands and results that stream through the TCM
  double longest_ns() const { return std::max({compute_ns, read_ns, write_ns}); }
};

class TcmRole;

/// pe_dma, pe_fetch_store, pe_gemm, pe_math: serve items at their sockets.
class EngineRole {
 public:
  virtual ~EngineRole() = default;
  /// One for each stage.
  virtual std::vector<StageStatistics> statistics() const { return {}; }
  /// Books the time up to end_ns: to be called once, before statistics are read at the end of a run.
  virtual void settle(double /*end_ns*/) {}
  /// One line for each item that waits or is in service: for the report of a deadlock.
  virtual std::vector<std::string> waiting() const { return {}; }
  /// What the service is made of of the item that it serves, or has served last; all 0: it does not say.
  virtual ServiceParts service_parts() const { return {}; }
  /// What a simple command's service takes here where nothing else uses the TCM, for who weighs what to do before the
  /// simulation begins; 0: it does not say.
  virtual double service_ns(const PeItem&, const TcmRole&) { return 0; }
  /// Whether the engine computes the op's result itself (OpDesc::engine_result), in the place of Phase 2. KernelFault,
  /// one line, for an op whose result it would have to compute and cannot. Asked where pending values are kept
  /// (System).
  virtual bool computes(const OpDesc&) const { return false; }
  /// One line for each thing that the user may not expect of what was done; the same for all engines alike.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// pe_tcm: the tightly coupled memory. Asked at its socket how long an access takes.
class TcmRole {
 public:
  static constexpr const char* kKind = "pe_tcm";
  virtual ~TcmRole() = default;
  virtual uint64_t reserved_bytes() const = 0;     ///< of tile buffers
  virtual uint64_t allocatable_bytes() const = 0;  ///< of tl's handles: addresses from 0
  virtual FirstFitAllocator& allocator() = 0;      ///< of these
  /// How long so many bytes take through its read or write port where that is free, ns: what an access takes at least,
  /// for who weighs what to do before the simulation begins.
  virtual double access_ns(uint64_t nbytes, bool write) const = 0;
};

/// pe_mmu: which virtual addresses are mapped. Asked at its socket what a look-up costs. pe_cpu has it map, unmap and
/// translate over its socket too (pe_setup.h).
class MmuRole {
 public:
  static constexpr const char* kKind = "pe_mmu";
  virtual ~MmuRole() = default;
  virtual uint64_t page_bytes() const = 0;
  /// As MappingTable's.
  virtual const VirtualMapping* map(std::shared_ptr<const VirtualMapping>) = 0;
  virtual bool unmap(uint64_t address, uint64_t nbytes) = 0;
  /// "nearest mapping: x [0x…, 0x…)", or that there is none.
  virtual std::string nearest(uint64_t address) const = 0;
  /// The tensor at a virtual address as the memories know it. TranslationFault.
  virtual TensorRef translate(const TensorRef&) const = 0;
};

/// pe_ipcq: a PE's end of the queues between PEs. Takes sends and receives at its socket, as items whose command has a
/// QueueCall (queue_message.h). pe_cpu has it open and close ports over its socket too (pe_setup.h).
class IpcqRole {
 public:
  static constexpr const char* kKind = "pe_ipcq";
  virtual ~IpcqRole() = default;
  /// What its rings are like where a connection does not say otherwise.
  virtual const QueueParameters& queue_parameters() const = 0;
  /// The PE's ports, by index, with empty rings; in the place of those that it had. `launch` tells what is under way
  /// from what was.
  virtual void open_ports(std::vector<QueuePort>, uint64_t launch) = 0;
  virtual const std::vector<QueuePort>& ports() const = 0;
  /// The PE has ended, and its rings go. One line that names what is left in one; empty if nothing is. What arrives
  /// later is told to on_left_over.
  virtual std::string close_ports() = 0;
  virtual void on_left_over(std::function<void(const std::string&)>) = 0;
  /// Of its servers (with flits there is no inbound one), and of its pe_dma's vc_comm, which comes first.
  virtual std::vector<QueueServerStatistics> queue_statistics() const { return {}; }
  /// Of the queues that end here, over all launches.
  virtual std::vector<QueueTraffic> queue_traffic() const { return {}; }
  /// That this PE has sent and whose credits are not back.
  virtual size_t segments_under_way() const { return 0; }
  /// Sends and receives that wait for the PE at the other end.
  virtual std::vector<QueueWait> queue_waits() const = 0;
};

}  // namespace kernbench
