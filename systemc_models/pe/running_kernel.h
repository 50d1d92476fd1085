// SPDX-License-Identifier: Apache-2.0
// The running kernels, so that a signal handler can report whose stack it runs on, and the line of a kernel that does
// not return. SystemC protects the lowest page of each stack, and RunningKernel protects more above it. An access to
// them raises SIGSEGV, so a large array cannot reach another kernel's stack.
#pragma once

#include <cstddef>

#include "kernbench/phase2/op/op.h"

namespace kernbench::pe {

/// Created at the beginning of a kernel's thread, on its stack. All const and static members are safe in a signal
/// handler.
class RunningKernel {
 public:
  /// `who`: its PE, or another runner of user code. `kernel`: its name; empty without a name; null if it is not a
  /// kernel. Both must outlive this object. Below the stack of stack_bytes are guard_bytes, in complete pages.
  RunningKernel(const char* who, const char* kernel, size_t stack_bytes, size_t guard_bytes);
  ~RunningKernel();
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;

  /// Its latest call of tl. The file's name is a literal.
  void calls(const SourceLine& where) { last_call_ = where; }
  /// It waits for that op until its next call, or until `op` is null.
  void waits_for(const char* op, const SourceLine& where) {
    awaited_ = op;
    awaited_at_ = where;
  }

  /// Guard size for that many stacks of `stack_bytes`: 1 MiB. If the address space is limited, at most a quarter of
  /// what the stacks leave of it.
  static size_t guard_bytes(size_t stacks, size_t stack_bytes);

  const char* who() const { return who_; }
  const char* kernel() const { return kernel_; }
  size_t stack_bytes() const { return stack_bytes_; }
  const SourceLine& last_call() const { return last_call_; }  ///< line 0: no call so far
  const char* awaited() const { return awaited_; }            ///< null: it runs
  const SourceLine& awaited_at() const { return awaited_at_; }

  /// All running kernels, unordered.
  static const RunningKernel* first();
  const RunningKernel* next() const { return next_; }
  /// The kernel whose stack contains the address; null: none.
  static const RunningKernel* on_stack(const void* address);
  /// The kernel whose stack guard contains the address, or is next to it; null if there is none.
  static const RunningKernel* overflowed_at(const void* address);

 private:
  const char *who_, *kernel_;
  void protect(int protection) const;

  size_t stack_bytes_, guard_bytes_;
  const void* top_;  ///< not `this`, because AddressSanitizer keeps local variables elsewhere
  SourceLine last_call_, awaited_at_;
  const char* awaited_ = nullptr;
  RunningKernel* next_;
  RunningKernel* previous_ = nullptr;
};

}  // namespace kernbench::pe
