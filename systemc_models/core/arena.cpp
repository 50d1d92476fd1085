// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kernbench::core {

namespace {
constexpr size_t kPage = 4096, kLargePage = size_t{2} << 20, kLargestChunk = size_t{32} << 20;
}  // namespace

#ifdef __SANITIZE_ADDRESS__
// Each piece is a separate heap chunk. AddressSanitizer then detects accesses beyond its end and reports no leaks for
// objects that it refers to.

Arena::~Arena() {
  for (const Chunk& c : chunks_) ::operator delete(c.start, std::align_val_t(kLine));
}

void* Arena::allocate(size_t bytes) {
  chunks_.push_back({::operator new(bytes, std::align_val_t(kLine)), bytes});
  std::memset(chunks_.back().start, 0, bytes);  // as mmap does
  return chunks_.back().start;
}

#else

Arena::~Arena() {
  for (const Chunk& c : chunks_) munmap(c.start, c.bytes);
}

void* Arena::allocate(size_t bytes) {
  bytes = (bytes + kLine - 1) / kLine * kLine;
  if (bytes > left_) grow(bytes);
  char* at = next_;
  next_ += bytes;
  left_ -= bytes;
  return at;
}

/// Chunks grow with the existing total, so that a small system stays small.
void Arena::grow(size_t bytes) {
  size_t all = 0;
  for (const Chunk& c : chunks_) all += c.bytes;
  const size_t wanted = std::max({bytes, size_t{64} << 10, std::min(all, kLargestChunk)});
  const bool large = wanted >= kLargePage;
  const size_t unit = large ? kLargePage : kPage;
  const size_t size = (wanted + unit - 1) / unit * unit;
  // Space for a start at a multiple of the page. The surplus is returned.
  const size_t mapped = large ? size + unit : size;
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  char* start = static_cast<char*>(p);
  if (large) {
    char* aligned = start + (unit - reinterpret_cast<uintptr_t>(start) % unit) % unit;
    if (aligned > start) munmap(start, static_cast<size_t>(aligned - start));
    if (start + mapped > aligned + size) munmap(aligned + size, static_cast<size_t>(start + mapped - aligned - size));
    start = aligned;
    madvise(start, size, MADV_HUGEPAGE);  // if refused, small pages work too
  }
  chunks_.push_back({start, size});
  next_ = start;
  left_ = size;
}

#endif

}  // namespace kernbench::core
