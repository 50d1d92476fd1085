// SPDX-License-Identifier: Apache-2.0
// The kernels that run, so that a signal handler can say whose stack it stands on, and where a kernel is that does not
// come back. SystemC protects the lowest page of each stack, and RunningKernel more above it: who touches them gets
// SIGSEGV, so that a large array does not reach the stack of another kernel.
#pragma once

#include <cstddef>

#include "kernbench/phase2/op/op.h"

namespace kernbench::pe {

/// Made at the beginning of a kernel's thread, on its stack. All that is const or static is safe in a signal handler.
class RunningKernel {
 public:
  /// `who`: its PE, or what else runs a user's code; `kernel`: its name, empty where it has none, null where it is no
  /// kernel. Both live as long as this. The stack has stack_bytes and below them guard_bytes, whole pages.
  RunningKernel(const char* who, const char* kernel, size_t stack_bytes, size_t guard_bytes);
  ~RunningKernel();
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;

  /// Its newest call of tl. The file's name is a literal.
  void calls(const SourceLine& where) { last_call_ = where; }
  /// It waits for that op, until it calls again or `op` is null.
  void waits_for(const char* op, const SourceLine& where) {
    awaited_ = op;
    awaited_at_ = where;
  }

  /// How wide the guards of so many stacks can be: 1 MiB, less where the address space is limited.
  static size_t guard_bytes(size_t stacks);

  const char* who() const { return who_; }
  const char* kernel() const { return kernel_; }
  size_t stack_bytes() const { return stack_bytes_; }
  const SourceLine& last_call() const { return last_call_; }  ///< line 0: it has made none
  const char* awaited() const { return awaited_; }            ///< null: it runs
  const SourceLine& awaited_at() const { return awaited_at_; }

  /// Of all, in no order.
  static const RunningKernel* first();
  const RunningKernel* next() const { return next_; }
  /// Whose stack the address is on; null: no kernel's.
  static const RunningKernel* on_stack(const void* address);
  /// The kernel in the guard of whose stack, or just beside it, the address is; null if there is none.
  static const RunningKernel* overflowed_at(const void* address);

 private:
  const char *who_, *kernel_;
  void protect(int protection) const;

  size_t stack_bytes_, guard_bytes_;
  const void* top_;  ///< not this: AddressSanitizer keeps a function's variables elsewhere
  SourceLine last_call_, awaited_at_;
  const char* awaited_ = nullptr;
  RunningKernel* next_;
  RunningKernel* previous_ = nullptr;
};

}  // namespace kernbench::pe
