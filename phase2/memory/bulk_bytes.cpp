// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/memory/bulk_bytes.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kernbench::phase2 {

void ask_for_large_pages(void* p, uint64_t nbytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr uintptr_t kPage = uintptr_t{2} << 20;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(p) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(p) + nbytes) / kPage * kPage;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#else
  (void)p, (void)nbytes;
#endif
}

Bytes bulk_bytes(uint64_t n) {
  Bytes b;
  b.reserve(n);
  ask_for_large_pages(b.data(), n);
  b.resize(n);
  return b;
}

}  // namespace kernbench::phase2
