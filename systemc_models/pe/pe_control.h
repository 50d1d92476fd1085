// SPDX-License-Identifier: Apache-2.0
// Control messages of the host to a PE, and their handling by its pe_cpu: start a kernel, map or unmap virtual memory.
#pragma once

#include <functional>
#include <memory>

#include "kernbench/systemc_models/fabric/control_message.h"
#include "kernbench/systemc_models/pe/kernel_run.h"
#include "kernbench/systemc_models/pe/mapping_table.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench::pe {

class KernelReductions;

class PeBody : public ControlBody {
 public:
  /// The message has arrived at the PE, now; it is answered now or later.
  virtual void take(ControlMessage&, Pe&) const = 0;
};

/// A kernel on PEs, all of which start it at one instant. Each PE responds when its kernel has ended. Errors: pe_busy,
/// kernel_fault; not_understood by a PE without the required blocks.
class LaunchBody : public PeBody {
 public:
  LaunchId id;
  double start_ns = 0;                             ///< start time; a PE that gets the message later starts then
  std::function<KernelBody(size_t place)> kernel;  ///< kernel of the PE at that place of the message
  std::vector<std::vector<QueuePort>> ports;       ///< ports of the PE at that place; empty: no PE has any
  std::shared_ptr<KernelReductions> reductions;    ///< of its kernels
  uint64_t number = 0;                             ///< of the launch
  std::function<void(size_t place, const KernelOutcome&)> ended;
  void take(ControlMessage&, Pe&) const override;
};

/// Caller of a map or unmap: pe_cpu over its socket, or the host at no time, from outside the simulation, possibly
/// before sockets are bound.
enum class By : uint8_t { pe_cpu, host };

/// Adds a virtual range to the PE's MMU, immediately. Errors: no_mmu, overlap.
class MapBody : public PeBody {
 public:
  std::shared_ptr<const VirtualMapping> mapping;
  void take(ControlMessage&, Pe&) const override;
  HostResponse map_at(Pe&, By) const;
};

/// Removes a range. Errors: no_mmu, not_mapped; pe_busy, because a running kernel may use the range.
class UnmapBody : public PeBody {
 public:
  uint64_t address = 0, nbytes = 0;
  void take(ControlMessage&, Pe&) const override;
  HostResponse unmap_at(Pe&, By) const;
};

/// Handles a message that has arrived at a pe_cpu.
void take_message(ControlMessage&, Pe&);

}  // namespace kernbench::pe
