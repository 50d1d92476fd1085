// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/running_kernel.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace kernbench::pe {

namespace {

// A signal handler gets no arguments of ours, so its data must be reachable from here.
RunningKernel* newest = nullptr;

constexpr uintptr_t kPage = 4096;
constexpr size_t kGuard = size_t{1} << 20;

// If SystemC's threads are system threads, the ends of their stacks have other contents.
const pthread_t first_thread = pthread_self();

uintptr_t number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

}  // namespace

RunningKernel::RunningKernel(const char* who, const char* kernel, size_t stack_bytes, size_t guard_bytes)
    : who_(who),
      kernel_(kernel),
      stack_bytes_(stack_bytes),
      guard_bytes_(guard_bytes),
      top_(__builtin_frame_address(0)),
      next_(newest) {
  if (newest) newest->previous_ = this;
  newest = this;
  protect(PROT_NONE);
}

RunningKernel::~RunningKernel() {
  protect(PROT_READ | PROT_WRITE);
  if (next_) next_->previous_ = previous_;
  (previous_ ? previous_->next_ : newest) = next_;
}

/// The complete guard except SystemC's page. If the system refuses, only that page is protected.
void RunningKernel::protect(int protection) const {
  if (guard_bytes_ <= kPage || !pthread_equal(pthread_self(), first_thread)) return;
  const uintptr_t end = (number(top_) + kPage - 1) / kPage * kPage;
  (void)mprotect(reinterpret_cast<void*>(end - stack_bytes_ - guard_bytes_ + kPage), guard_bytes_ - kPage, protection);
}

size_t RunningKernel::guard_bytes(size_t stacks, size_t stack_bytes) {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return kGuard;
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const size_t taken = pages * kPage + stacks * stack_bytes;
  const size_t left = space.rlim_cur - std::min<size_t>(space.rlim_cur, taken);
  return std::min(kGuard, left / 4 / std::max<size_t>(stacks, 1) / kPage * kPage);
}

const RunningKernel* RunningKernel::first() {
  return newest;
}

// The constructor's frame is near the upper end of the stack. The lower end is `stack_bytes` below, followed by the
// guard.
const RunningKernel* RunningKernel::on_stack(const void* address) {
  for (const RunningKernel* k = newest; k; k = k->next_) {
    if (number(address) < number(k->top_) + kPage &&
        number(address) >= number(k->top_) - k->stack_bytes_ - k->guard_bytes_)
      return k;
  }
  return nullptr;
}

const RunningKernel* RunningKernel::overflowed_at(const void* address) {
  const uintptr_t at = number(address);
  for (const RunningKernel* k = newest; k; k = k->next_) {
    const uintptr_t top = number(k->top_), last = top - k->stack_bytes_ + 3 * kPage;
    if (at < top && at + kPage >= top - k->stack_bytes_ - k->guard_bytes_ && at <= last) return k;
  }
  return nullptr;
}

}  // namespace kernbench::pe
