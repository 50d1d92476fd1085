// SPDX-License-Identifier: Apache-2.0
// The memory layout of an access, its operation there, and the hops of its path. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {

class FabricPort;

/// A range of an access; `offset` is counted from its address, modulo 2^64.
struct AccessRange {
  uint64_t offset = 0, nbytes = 0;
};

/// The operation of an access at its memory beyond reading or writing (access rules §17). An atomic is a write whose
/// memory first reads the old bytes.
enum class AtomicKind : uint8_t {
  none,
  fetch,    ///< returns the old bytes
  reduce,   ///< returns an acknowledgement
  compare,  ///< carries expected and new bytes; returns the old ones
};

/// Memory layout of an access: `count` rows of `bytes`, `stride` bytes apart; a contiguous access is one row. Or a list
/// of ranges. Also its operation, if it is an atomic.
struct Rows {
  uint64_t count = 1;
  uint64_t bytes = 0;
  uint64_t stride = 0;
  /// If set: these ranges in their order, the first at offset 0, instead of rows. They belong to the issuer.
  const std::vector<AccessRange>* ranges = nullptr;
  AtomicKind atomic = AtomicKind::none;
  uint64_t list_bytes = 0;  ///< bytes that the list of ranges adds to the request on links
  bool posted = false;      ///< done when its memory has finished; without a response

  bool returns_old() const { return atomic == AtomicKind::fetch || atomic == AtomicKind::compare; }
  /// Whether the request, or the response, carries data.
  bool has_data(bool write, bool response) const { return response ? !write || returns_old() : write; }
  /// Bytes of data in the message, for an access of `nbytes`.
  uint64_t data_bytes(bool write, bool response, uint64_t nbytes) const {
    if (!has_data(write, response)) return 0;
    return !response && atomic == AtomicKind::compare ? 2 * nbytes : nbytes;
  }
  /// Bytes of the first range, which the memory must hold from the address on.
  uint64_t first_bytes() const { return ranges ? ranges->front().nbytes : bytes; }
  /// For rows: from the first byte to the end of the last row, saturated.
  uint64_t span() const {
    uint64_t n = 0;
    const bool too_many =
        count > 1 && (__builtin_mul_overflow(count - 1, stride, &n) || __builtin_add_overflow(n, bytes, &n));
    return too_many ? std::numeric_limits<uint64_t>::max() : count > 1 ? n : bytes;
  }
};

/// Visits the memory ranges of the rows in order: visit(address, bytes). Adjacent rows are one range; ranges of a list
/// are not merged.
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
  bool combined = false;  ///< acknowledgements are joined at forks
};

/// The bandwidth that limited a memory's service of a complete transaction, besides reported channels.
enum class ServiceBound : uint8_t {
  memory,         ///< the memory's own
  way,            ///< of the slowest link in the direction of the data
  way_to_memory,  ///< the same, but excluding the link to the memory
};

/// A hop from one block of a path to the next: the output port and the input port.
struct Hop {
  FabricPort* out = nullptr;
  FabricPort* in = nullptr;
};

}  // namespace kernbench::fabric
