// SPDX-License-Identifier: Apache-2.0
// Interfaces of each kind of block towards the other blocks of its PE, kernel runners and reports, beside its sockets.
// A user-defined class under `impl:` replaces a built-in block if it derives from these interfaces (and from PeBlock);
// nothing else is required.
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

namespace kernbench::pe {

class KernelRunner;

/// pe_cpu: sends commands of kernels to the scheduler. For launches it is also a ControlTarget with a target socket
/// (fabric/control_message.h), which passes messages to take_message (pe_control.h).
class CpuRole {
 public:
  static constexpr const char* kKind = "pe_cpu";
  virtual ~CpuRole() = default;
  /// The runner of kernels here, set before elaboration ends; completions go to KernelRunner::complete.
  virtual void attach(KernelRunner&) = 0;
  /// Cost of a command for the submitting kernel, ns.
  virtual double command_ns() const = 0;
  /// Cost of the kernel's scalar work, ns: a number of cycles (tl.elapse), and each element read from a Loaded.
  virtual double cycles_ns(double cycles) const { return cycles; }  ///< default: 1 GHz
  virtual double read_ns() const { return 0; }
  /// Interval from the completion of a poll to the next poll (tl.wait_until), ns.
  virtual double poll_ns() const { return 100; }
  virtual ScalarCycles scalar_cycles() const { return {}; }
  /// Sends a command to the scheduler, now.
  virtual void submit(PeItem&) = 0;
  /// Sends a command to pe_ipcq, now. False: there is no path.
  virtual bool submit_to_queues(PeItem&) { return false; }
  /// Limits of tl.materialize.
  virtual MaterializeLimits materialize_limits() const { return {}; }
};

/// pe_scheduler: accepts and dispatches commands, feeds tiles, and informs the submitter of a complete command.
class SchedulerRole {
 public:
  static constexpr const char* kKind = "pe_scheduler";
  virtual ~SchedulerRole() = default;
  /// Checks a command at its submission. AccessError, with one line, if it cannot be served.
  virtual void validate(PeCommand&) const = 0;
  /// Number of incomplete commands; and one line for each wait of a command, for deadlock reports.
  virtual size_t outstanding() const = 0;
  virtual std::vector<std::string> waiting() const = 0;
  /// Reports activity up to end_ns to an observer: once, at the end of a run.
  virtual void settle(double /*end_ns*/) {}
};

/// Activity of an engine, for reports. Times in ns.
struct StageStatistics {
  Stage stage = Stage::dma_read;
  unsigned servers = 1;
  uint32_t queue_depth = 2;
  bool needs_slot = false;  ///< holds the PE's accel_slot during service
  uint64_t ops = 0, bytes = 0;
  double flops = 0;
  double peak_ns = 0;  ///< time of these at the engine's peak, for GEMM; 0: unknown
  // The sum is servers × the time up to settle().
  double idle_ns = 0;        ///< no item
  double slot_wait_ns = 0;   ///< has an item, waits for the accel_slot
  double busy_ns = 0;        ///< in service
  double queue_full_ns = 0;  ///< has served an item; the next queue is full
  // Part of busy_ns (DMA).
  double link_wait_ns = 0, memory_wait_ns = 0;
};

/// Service of a computing engine: overhead_ns, then the maximum of these, which are concurrent. ns.
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
  /// Accounts for the time up to end_ns. Called once, before statistics are read at the end of a run.
  virtual void settle(double /*end_ns*/) {}
  /// One line for each item that waits or is in service, for deadlock reports.
  virtual std::vector<std::string> waiting() const { return {}; }
  /// Parts of the current or last service; all 0: unknown.
  virtual ServiceParts service_parts() const { return {}; }
  /// Service time of a simple command with an idle TCM, for decisions before the simulation; 0: unknown.
  virtual double service_ns(const PeItem&, const TcmRole&) { return 0; }
  /// Whether the engine computes the op's result itself (OpDesc::engine_result) instead of Phase 2. KernelFault, with
  /// one line, for an op that it should compute but cannot. Called if pending values are kept (System).
  virtual bool computes(const OpDesc&) const { return false; }
  /// One line for each unexpected property of the results; the same for all engines of a kind.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// pe_tcm: the tightly coupled memory. Queries of access times arrive at its socket.
class TcmRole {
 public:
  static constexpr const char* kKind = "pe_tcm";
  virtual ~TcmRole() = default;
  virtual uint64_t reserved_bytes() const = 0;     ///< for tile buffers
  virtual uint64_t allocatable_bytes() const = 0;  ///< for handles of tl: addresses from 0
  virtual FirstFitAllocator& allocator() = 0;      ///< of the allocatable region
  /// Time of bytes through its read or write port without contention, ns: the minimum of an access, for decisions
  /// before the simulation.
  virtual double access_ns(uint64_t nbytes, bool write) const = 0;
};

/// pe_mmu: the mapped virtual addresses. Queries of look-up times arrive at its socket; pe_cpu also uses the socket to
/// map, unmap and translate (pe_setup.h).
class MmuRole {
 public:
  static constexpr const char* kKind = "pe_mmu";
  virtual ~MmuRole() = default;
  virtual uint64_t page_bytes() const = 0;
  /// As in MappingTable.
  virtual const VirtualMapping* map(std::shared_ptr<const VirtualMapping>) = 0;
  virtual bool unmap(uint64_t address, uint64_t nbytes) = 0;
  /// "nearest mapping: x [0x…, 0x…)", or that there is none.
  virtual std::string nearest(uint64_t address) const = 0;
  /// The physical tensor at a virtual address. TranslationFault.
  virtual TensorRef translate(const TensorRef&) const = 0;
};

/// pe_ipcq: a PE's end of the queues between PEs. Accepts sends and receives at its socket, as items whose command has
/// a QueueCall (queue_message.h). pe_cpu also uses the socket to open and close ports (pe_setup.h).
class IpcqRole {
 public:
  static constexpr const char* kKind = "pe_ipcq";
  virtual ~IpcqRole() = default;
  /// Parameters of its rings, unless a connection overrides them.
  virtual const QueueParameters& queue_parameters() const = 0;
  /// Opens the PE's ports, by index, with empty rings; they replace all earlier ports. `launch` distinguishes messages
  /// in flight from earlier ones.
  virtual void open_ports(std::vector<QueuePort>, uint64_t launch) = 0;
  virtual const std::vector<QueuePort>& ports() const = 0;
  /// The PE has ended, and its rings are freed. Returns one line that names remaining contents; empty if there are
  /// none. Later arrivals are reported to on_left_over.
  virtual std::string close_ports() = 0;
  /// Before close_ports(): the launch was aborted, so its messages that arrive later are dropped without a report.
  virtual void discard_messages() {}
  virtual void on_left_over(std::function<void(const std::string&)>) = 0;
  /// Statistics of its servers (with flits there is no inbound server), after that of its pe_dma's vc_comm.
  virtual std::vector<QueueServerStatistics> queue_statistics() const { return {}; }
  /// Traffic of the queues that end here, over all launches.
  virtual std::vector<QueueTraffic> queue_traffic() const { return {}; }
  /// Segments sent by this PE whose credits have not returned.
  virtual size_t segments_under_way() const { return 0; }
  /// Sends and receives that wait for the PE at the other end.
  virtual std::vector<QueueWait> queue_waits() const = 0;
};

}  // namespace kernbench::pe
