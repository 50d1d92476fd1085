// Whose stack is it? The stacks of running kernels, so that a signal handler can tell a kernel that overflowed its
// stack from any other fault: SystemC protects the page below each, and who touches it gets SIGSEGV.
#pragma once

#include <cstddef>

namespace kernbench {

/// Made at the beginning of a kernel's thread, on its stack. All of it is safe in a signal handler.
class KernelStack {
 public:
  /// `pe` is the PE's id; it has to live as long as this.
  KernelStack(const char* pe, size_t bytes);
  ~KernelStack();
  KernelStack(const KernelStack&) = delete;
  KernelStack& operator=(const KernelStack&) = delete;

  const char* pe() const { return pe_; }
  size_t bytes() const { return bytes_; }

  /// The kernel's stack just below whose end, or at whose last page, the address is; null if there is none.
  static const KernelStack* overflowed_at(const void* address);

 private:
  const char* pe_;
  size_t bytes_;
  KernelStack* next_;
  KernelStack* previous_ = nullptr;
};

}  // namespace kernbench
