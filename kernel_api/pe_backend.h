// SPDX-License-Identifier: Apache-2.0
// The interface between a kernel's context and its PE. pe_cpu implements it in the simulation, and a sequential
// stand-in in the tests of this folder. Kernel authors never use it.
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

/// A fault of the running kernel: bad access, read of a pending value, TCM exhausted, shape mismatch. The message is
/// one line for the kernel's author. The run ends with exit status 1.
class KernelFault : public std::runtime_error {
 public:
  /// Without the kernel's line: a caller that has it adds it; else the run names the kernel's last call.
  explicit KernelFault(const std::string& what) : std::runtime_error(what) {}
  KernelFault(const SourceLine& where, const std::string& what)
      : std::runtime_error(where.line > 0 ? to_string(where) + ": " + what : what), has_line_(where.line > 0) {}
  bool has_line() const { return has_line_; }

 private:
  bool has_line_ = false;
};

/// Identifies a submitted command within its PE.
using Ticket = uint64_t;

/// Additional data of a send or receive. Its OpDesc has the source of the message as operand, or the destination as
/// output.
struct QueueOp {
  std::vector<uint32_t> ports;    ///< indices into ports(): one, or those of a recv_any or send_all
  bool any = false;               ///< recv_any: from the first port with a message, round robin
  std::shared_ptr<OpDesc> store;  ///< copy_to_dst: the store after the receive; null: none
  uint32_t taken = 0;             ///< recv_any: index of the receiving port, valid when it is done
};

/// The flag that a kernel polls (tl.wait_until).
struct FlagWait {
  std::string what;  ///< "waits until hbm 0x1000 of sip0.cube0.hbm_ctrl0 is ge 3"
  SourceLine where;
  std::function<bool()> holds;  ///< whether memory currently fulfils the condition
  std::function<std::string()> found;
};

/// Costs of a compiled kernel's arithmetic (docs/triton.md) in pe_cpu, in cycles.
struct ScalarCycles {
  double scalar = 1;  ///< an operation on numbers
  double index = 1;   ///< an operation on a block of indices, addresses or masks in affine form
};

class PeBackend {
 public:
  virtual ~PeBackend() = default;

  virtual uint32_t pe_index() const = 0;         ///< in compiled order of the system's PEs
  virtual const std::string& pe_id() const = 0;  ///< "sip0.cube0.pe0"
  virtual uint32_t cube_index() const = 0;       ///< in compiled order of the system's cubes

  /// Blocks for pe_cpu's overhead. Stamps desc->submit_ns, pe and seq, applies the op's effect on memory (except for
  /// loads), submits the command and returns before it is done. A backend may run the kernel ahead of the simulation.
  /// Overhead, effect and submission then happen in call order before the next wait() returns, and done() is false
  /// until then.
  virtual Ticket submit(const std::shared_ptr<OpDesc>& desc) = 0;
  /// The names of the PE's ports, in declared order (collectives rules §10.1).
  virtual const std::vector<std::string>& ports() const {
    static const std::vector<std::string> none;
    return none;
  }
  /// Submits a send or receive like submit(). The ticket of a copy_to_dst is done when its store is. `op` must live
  /// until then. If the received message does not match the desc, the wait for it throws a KernelFault.
  virtual Ticket submit_queue_op(const std::shared_ptr<OpDesc>& desc, const std::shared_ptr<QueueOp>& op);
  /// Blocks until the last segment of a send has a slot.
  virtual void wait_for_slot(Ticket) {}

  /// Blocks until the command is done. A loaded value is then in TCM. It costs no time, and may be repeated.
  virtual void wait(Ticket) = 0;
  virtual bool done(Ticket) const = 0;
  /// The next submitted command's record lists the ops of this completed command in its dependency_ids.
  virtual void follow(Ticket) {}
  /// Materializes a buffer. desc is a store to the buffer that it reads. Stamps it like submit(), computes the buffer's
  /// pending bytes and makes them real; fills in `data` and `materialized`. Blocks until then. KernelFault if the
  /// values are unavailable. If desc already has `data` (a tensor of the kernel's own values), these are the bytes.
  virtual void materialize(const std::shared_ptr<OpDesc>& desc) = 0;
  /// Prints a line of the kernel (tl.device_print of real values) on standard error.
  virtual void print(const std::string& line);

  /// After an unsuccessful poll: waits until the time of the next one. The wait lives until flag_held(). KernelFault if
  /// no pending operation can change the flag. A backend without other PEs throws immediately.
  virtual void next_poll(const FlagWait& wait);
  /// After a successful poll, which is a load that has arrived.
  virtual void flag_held(const OpDesc& /*poll*/) {}

  /// Scalar work of the kernel: takes the given cycles (>= 0), or the time to read the given number of elements of a
  /// load's result. A backend without timing does nothing.
  virtual void elapse(double /*cycles*/, const SourceLine&) {}
  virtual void read_elements(uint64_t /*count*/) {}
  virtual ScalarCycles scalar_cycles() const { return {}; }
  /// The kernel's clock, which may be ahead of the simulation. A backend without timing returns 0.
  virtual double now_ns() const { return 0; }

  /// TCM of the PE for handles (the allocatable region): first fit, freed ranges coalesce. If it is exhausted,
  /// KernelFault with the requested bytes, the free bytes and the PE.
  virtual uint64_t tcm_alloc(uint64_t nbytes) = 0;
  virtual void tcm_free(uint64_t addr) = 0;

  /// Checks that [addr, addr + nbytes) lies in one memory of that space. Otherwise KernelFault with space, address,
  /// size and owner.
  virtual void check_range(Space, uint64_t addr, uint64_t nbytes) const = 0;
  /// Translates a tensor at a virtual address (translation.h) to physical pieces. A physical tensor is returned
  /// unchanged. KernelFault if it is not completely mapped.
  virtual TensorRef translate(const TensorRef& ref) const { return ref; }
  /// The shared SRAM of the PE's cube; 0 bytes if it has none.
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
