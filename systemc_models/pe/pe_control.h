// What the host can say to a PE, and what its pe_cpu does then: start a kernel, map or unmap virtual memory.
#pragma once

#include <functional>
#include <memory>

#include "kernbench/systemc_models/fabric/control_message.h"
#include "kernbench/systemc_models/pe/kernel_run.h"
#include "kernbench/systemc_models/pe/mapping_table.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench {

class PeBody : public ControlBody {
 public:
  /// The message is at the PE, now; it is answered now or later.
  virtual void take(ControlMessage&, Pe&) const = 0;
};

/// A kernel on PEs, all of which start it at one instant: the answer of each comes when its kernel has ended.
/// pe_busy, kernel_fault; not_understood by a PE that lacks blocks that a kernel needs.
class LaunchBody : public PeBody {
 public:
  LaunchId id;
  double start_ns = 0;                             ///< the stamp; a PE that is reached later starts then
  std::function<KernelBody(size_t place)> kernel;  ///< what the PE at that place of the message runs
  std::vector<std::vector<QueuePort>> ports;       ///< of the PE at that place; empty: none has any
  uint64_t number = 0;                             ///< of the launch
  std::function<void(size_t place, const KernelOutcome&)> ended;
  void take(ControlMessage&, Pe&) const override;
};

/// Who has a pe_mmu map or unmap: pe_cpu over its socket, or the host at no time, from outside of the simulation, when
/// sockets may not be bound yet.
enum class By : uint8_t { pe_cpu, host };

/// Makes a virtual range known to the PE's MMU, at once. no_mmu, overlap.
class MapBody : public PeBody {
 public:
  std::shared_ptr<const VirtualMapping> mapping;
  void take(ControlMessage&, Pe&) const override;
  HostResponse map_at(Pe&, By) const;
};

/// Makes it forget one. no_mmu, not_mapped; pe_busy: what a kernel may use does not vanish under it.
class UnmapBody : public PeBody {
 public:
  uint64_t address = 0, nbytes = 0;
  void take(ControlMessage&, Pe&) const override;
  HostResponse unmap_at(Pe&, By) const;
};

/// What a pe_cpu does with a message that has arrived.
void take_message(ControlMessage&, Pe&);

}  // namespace kernbench
