#include "kernbench/systemc_models/pe/running_kernel.h"

#include <cstdint>

namespace kernbench {

namespace {

// A handler is called without arguments of ours, so what it looks at has to be reachable from here.
RunningKernel* newest = nullptr;

constexpr uintptr_t kPage = 4096;

uintptr_t number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

}  // namespace

RunningKernel::RunningKernel(const char* who, const char* kernel, size_t stack_bytes)
    : who_(who), kernel_(kernel), stack_bytes_(stack_bytes), top_(__builtin_frame_address(0)), next_(newest) {
  if (newest) newest->previous_ = this;
  newest = this;
}

RunningKernel::~RunningKernel() {
  if (next_) next_->previous_ = previous_;
  (previous_ ? previous_->next_ : newest) = next_;
}

const RunningKernel* RunningKernel::first() {
  return newest;
}

// The constructor's frame lies near the stack's upper end; the lower one, with the protected page, is `stack_bytes`
// below.
const RunningKernel* RunningKernel::on_stack(const void* address) {
  for (const RunningKernel* k = newest; k; k = k->next_) {
    if (number(address) < number(k->top_) + kPage && number(address) >= number(k->top_) - k->stack_bytes_) return k;
  }
  return nullptr;
}

const RunningKernel* RunningKernel::overflowed_at(const void* address) {
  const uintptr_t at = number(address);
  for (const RunningKernel* k = newest; k; k = k->next_) {
    const uintptr_t top = number(k->top_);
    if (at < top && at + kPage >= top - k->stack_bytes_ && at <= top - k->stack_bytes_ + 3 * kPage) return k;
  }
  return nullptr;
}

}  // namespace kernbench
