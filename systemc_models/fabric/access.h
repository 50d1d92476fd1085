// SPDX-License-Identifier: Apache-2.0
// How an access lies in memory, what it does there, and the hops of its way. Plain C++: no SystemC here.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {

class FabricPort;

/// A stretch of an access; `offset` from its address, modulo 2^64.
struct AccessRange {
  uint64_t offset = 0, nbytes = 0;
};

/// What an access does with the bytes at its memory beyond reading or writing them (access rules §17). An atomic is
/// a write whose memory reads what was there before.
enum class AtomicKind : uint8_t {
  none,
  fetch,    ///< the old bytes come back
  reduce,   ///< an acknowledgement comes back
  compare,  ///< carries expected and new bytes; the old ones come back
};

/// How an access lies in memory: `count` rows of `bytes`, `stride` bytes apart, one row where contiguous; or a list of
/// ranges. And what it does there, if it is an atomic.
struct Rows {
  uint64_t count = 1;
  uint64_t bytes = 0;
  uint64_t stride = 0;
  /// Set: these ranges in their order, the first at offset 0, instead of rows. Kept by who issues the access.
  const std::vector<AccessRange>* ranges = nullptr;
  AtomicKind atomic = AtomicKind::none;
  uint64_t list_bytes = 0;  ///< that the list of ranges adds to the request on links
  bool posted = false;      ///< done when its memory is finished with it: nothing comes back

  bool returns_old() const { return atomic == AtomicKind::fetch || atomic == AtomicKind::compare; }
  /// Whether the request, or the response, carries data.
  bool has_data(bool write, bool response) const { return response ? !write || returns_old() : write; }
  /// How many bytes of data, of an access of `nbytes`.
  uint64_t data_bytes(bool write, bool response, uint64_t nbytes) const {
    if (!has_data(write, response)) return 0;
    return !response && atomic == AtomicKind::compare ? 2 * nbytes : nbytes;
  }
  /// Of the first range: what the memory that serves it must hold from the address on.
  uint64_t first_bytes() const { return ranges ? ranges->front().nbytes : bytes; }
  /// From the first byte to the end of the last row; the largest number where there are more. Of rows.
  uint64_t span() const {
    uint64_t n = 0;
    const bool too_many =
        count > 1 && (__builtin_mul_overflow(count - 1, stride, &n) || __builtin_add_overflow(n, bytes, &n));
    return too_many ? std::numeric_limits<uint64_t>::max() : count > 1 ? n : bytes;
  }
};

/// Visits the ranges of memory that rows are, in order: visit(address, bytes). Rows that touch are one range; ranges of
/// a list stay as they are.
template <class Visit>
void for_each_range(uint64_t address, const Rows& rows, Visit visit) {
  if (rows.ranges) {
    for (const AccessRange& r : *rows.ranges) visit(address + r.offset, r.nbytes);
    return;
  }
  for (uint64_t row = 0; row < rows.count;) {
    const uint64_t at = address + row * rows.stride;
    uint64_t bytes = rows.bytes;
    for (++row; row < rows.count && rows.stride == rows.bytes; ++row) bytes += rows.bytes;
    visit(at, bytes);
  }
}

/// Destinations of a multicast, in order.
struct MulticastTo {
  std::vector<uint64_t> addresses;
  bool combined = false;  ///< forks join acknowledgements
};

/// Whose bandwidth a memory's service of a whole transaction has kept to, beside that of channels that it has told of.
enum class ServiceBound : uint8_t {
  memory,         ///< its own
  way,            ///< the slowest link's, of the direction of the data
  way_to_memory,  ///< likewise, but for the link to the memory
};

/// From one block on a transaction's way to the next: the port by which it leaves, and the one by which it comes in.
struct Hop {
  FabricPort* out = nullptr;
  FabricPort* in = nullptr;
};

}  // namespace kernbench::fabric
