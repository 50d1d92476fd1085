#include "kernbench/systemc_models/pe/kernel_stack.h"

#include <cstdint>

namespace kernbench {

namespace {

// A handler is called without arguments of ours, so what it looks at has to be reachable from here.
KernelStack* first = nullptr;

constexpr uintptr_t kPage = 4096;

}  // namespace

KernelStack::KernelStack(const char* pe, size_t bytes) : pe_(pe), bytes_(bytes), next_(first) {
  if (first) first->previous_ = this;
  first = this;
}

KernelStack::~KernelStack() {
  if (next_) next_->previous_ = previous_;
  (previous_ ? previous_->next_ : first) = next_;
}

const KernelStack* KernelStack::overflowed_at(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const KernelStack* s = first; s; s = s->next_) {
    // This object lies near the stack's upper end; the lower one, with the protected page, is `bytes` below it.
    const uintptr_t top = reinterpret_cast<uintptr_t>(s);
    if (at < top && at + kPage >= top - s->bytes_ && at <= top - s->bytes_ + 3 * kPage) return s;
  }
  return nullptr;
}

}  // namespace kernbench
