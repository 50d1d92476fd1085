// SPDX-License-Identifier: Apache-2.0
// Where a virtually addressed tensor lies: the physical pieces that a translation found (docs/memory.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Virtual addresses begin above the 51 bits of physical addresses, so the address itself shows its kind.
constexpr uint64_t kVirtualBase = uint64_t{1} << 52;

struct Translation {
  /// A contiguous physical range.
  struct Piece {
    uint64_t offset = 0;  ///< bytes from the tensor's first byte
    uint64_t addr = 0;    ///< physical
    uint64_t nbytes = 0;
  };
  uint64_t virtual_addr = 0;  ///< of the tensor's first byte
  /// In order of offset and without gaps from the tensor's first byte to its last; at least one.
  std::vector<Piece> pieces;

  /// The piece that holds the byte at `offset`, which must be inside.
  const Piece& piece_at(uint64_t offset) const {
    const auto behind = std::upper_bound(pieces.begin(), pieces.end(), offset,
                                         [](uint64_t at, const Piece& p) { return at < p.offset; });
    return *(behind - 1);
  }
  uint64_t physical(uint64_t offset) const {
    const Piece& p = piece_at(offset);
    return p.addr + (offset - p.offset);
  }
  /// Calls f(physical address, nbytes) for the ranges that [offset, offset + nbytes) consists of, in order.
  template <class F>
  void for_each_range(uint64_t offset, uint64_t nbytes, F&& f) const {
    for (const Piece* p = &piece_at(offset); nbytes > 0; ++p) {
      const uint64_t skipped = offset - p->offset;
      const uint64_t n = std::min(nbytes, p->nbytes - skipped);
      f(p->addr + skipped, n);
      offset += n;
      nbytes -= n;
    }
  }
};

}  // namespace kernbench::phase2
