// SPDX-License-Identifier: Apache-2.0
// What a kernel's context asks of the PE it runs on. Implemented by pe_cpu in the simulation and by a
// sequential stand-in in the tests of this folder; a kernel author never sees it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench {

/// A fault of the running kernel: bad access, pending value read, TCM exhausted, shape mismatch. The message is
/// one line and names what the author needs; the run ends with exit status 1.
class KernelFault : public std::runtime_error {
 public:
  /// Without the kernel's line: whoever knows it says it; else the run names the kernel's last call.
  explicit KernelFault(const std::string& what) : std::runtime_error(what) {}
  KernelFault(const SourceLine& where, const std::string& what)
      : std::runtime_error(where.line > 0 ? to_string(where) + ": " + what : what), has_line_(where.line > 0) {}
  bool has_line() const { return has_line_; }

 private:
  bool has_line_ = false;
};

/// Identifies a submitted command within its PE.
using Ticket = uint64_t;

/// A send or a receive, beside its OpDesc (whose operand is what is sent, whose output is where a message goes).
struct QueueOp {
  std::vector<uint32_t> ports;    ///< indices among ports(): one, or those of a recv_any
  bool any = false;               ///< recv_any: of the first of them that has a message, in its turn
  std::shared_ptr<OpDesc> store;  ///< copy_to_dst: what follows the receive; null: nothing does
  uint32_t taken = 0;             ///< recv_any: index of the port that had it, when it is done
};

/// For what flag a kernel polls (tl.wait_until).
struct FlagWait {
  std::string what;  ///< "waits until hbm 0x1000 of sip0.cube0.hbm_ctrl0 is ge 3"
  SourceLine where;
  std::function<bool()> holds;  ///< what memory says now
  std::function<std::string()> found;
};

/// What the arithmetic of a compiled kernel (docs/triton.md) takes of pe_cpu, in cycles.
struct ScalarCycles {
  double scalar = 1;  ///< an operation on numbers
  double index = 1;   ///< one on a block of indices, addresses or masks, while they follow a rule
};

class PeBackend {
 public:
  virtual ~PeBackend() = default;

  virtual uint32_t pe_index() const = 0;         ///< in compiled order of the system's PEs
  virtual const std::string& pe_id() const = 0;  ///< "sip0.cube0.pe0"
  virtual uint32_t cube_index() const = 0;       ///< in compiled order of the system's cubes

  /// Blocks for pe_cpu's overhead, stamps desc->submit_ns, pe and seq, applies the op's effect on memory (all but
  /// loads), submits the command and returns without waiting for its end. A backend may run the kernel ahead of the
  /// simulation: overhead, effect and submission then happen by the next wait(), in the order of the calls, and done()
  /// is false until then.
  virtual Ticket submit(const std::shared_ptr<OpDesc>& desc) = 0;
  /// The names of the PE's ports, in declared order (collectives rules §10.1).
  virtual const std::vector<std::string>& ports() const {
    static const std::vector<std::string> none;
    return none;
  }
  /// Submits a send or a receive as submit() does; a copy_to_dst's ticket is done when its store is. `op` lives until
  /// it is done. A receive whose message is another than the desc says is a KernelFault of the wait for it.
  virtual Ticket submit_queue_op(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<QueueOp>& op);
  /// Blocks until the last segment of a send has its slot.
  virtual void wait_for_slot(Ticket) {}

  /// Blocks until the command is done; a load's data is then in TCM. Costs no time. Waiting twice is harmless.
  virtual void wait(Ticket) = 0;
  virtual bool done(Ticket) const = 0;
  /// The record of the next command submitted names the ops of this one, which is done, in its dependency_ids.
  virtual void follow(Ticket) {}
  /// Stamps desc, a store to the buffer that it reads, as submit() does, works out what the buffer's pending bytes will
  /// be, and makes them real; fills in `data` and `materialized`. Blocks until that is so. KernelFault where the values
  /// cannot be had.
  /// Where the desc has its `data` already (a tensor of the kernel's own values), that is all there is to make.
  virtual void materialize(const std::shared_ptr<OpDesc>& desc) = 0;
  /// A line of the kernel's (tl.device_print of what is real): to standard error.
  virtual void print(const std::string& line);

  /// A poll has not found what it waits for: passes the time to the next one. The wait lives until flag_held().
  /// KernelFault where nobody can change a flag any more. A backend in which no other PE runs says so at once.
  virtual void next_poll(const FlagWait& wait);
  /// The poll, a load that has arrived, has found it.
  virtual void flag_held(const OpDesc& /*poll*/) {}

  /// The kernel's scalar work passes the time of so many cycles (>= 0), or of reading so many elements of a load's
  /// result. A backend without time has nothing to do.
  virtual void elapse(double /*cycles*/, const SourceLine&) {}
  virtual void read_elements(uint64_t /*count*/) {}
  virtual ScalarCycles scalar_cycles() const { return {}; }
  /// The kernel's own clock, which may be ahead of the simulation. A backend without time says 0.
  virtual double now_ns() const { return 0; }

  /// PE-local TCM for handles (the allocatable region): first fit, freed ranges coalesce. KernelFault when
  /// exhausted, with bytes asked, bytes free and the PE.
  virtual uint64_t tcm_alloc(uint64_t nbytes) = 0;
  virtual void tcm_free(uint64_t addr) = 0;

  /// Checks that [addr, addr + nbytes) lies in one memory of that space; a KernelFault with space, address, size and
  /// owner otherwise.
  virtual void check_range(Space, uint64_t addr, uint64_t nbytes) const = 0;
  /// A tensor at a virtual address (translation.h) as the memories know it: physical, with its pieces. A physical one
  /// is given back as it is. KernelFault for what is not mapped as a whole.
  virtual TensorRef translate(const TensorRef& ref) const { return ref; }
  /// The shared SRAM of the PE's cube; 0 bytes where it has none.
  struct Range {
    uint64_t addr = 0, nbytes = 0;
  };
  virtual Range sram() const { return {}; }
  /// Id of the memory node that owns an address, for messages; empty if unknown.
  virtual std::string owner_of(Space, uint64_t /*addr*/) const { return {}; }
  virtual MemoryImage& memory() = 0;
};

inline void PeBackend::print(const std::string& line) {
  std::fputs((line + "\n").c_str(), stderr);
}

inline void PeBackend::next_poll(const FlagWait& wait) {
  throw KernelFault(wait.where, pe_id() + " " + wait.what + ", it is " + wait.found() + "; no other kernel runs");
}

inline Ticket PeBackend::submit_queue_op(const std::shared_ptr<OpDesc>&, const std::shared_ptr<QueueOp>&) {
  throw KernelFault("there are no queues between PEs here");
}

}  // namespace kernbench
