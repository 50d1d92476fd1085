// Bulk data on large pages where the system has such: fewer page faults, fewer misses of the address translation.
#pragma once

#include <cstdint>

#include "kernbench/phase2/op/op.h"

namespace kernbench {

/// n zero bytes.
Bytes bulk_bytes(uint64_t n);

/// Asks for large pages under memory that nobody has touched yet. A wish: contents are the same without.
void ask_for_large_pages(void* p, uint64_t nbytes);

}  // namespace kernbench
