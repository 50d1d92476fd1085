// SPDX-License-Identifier: Apache-2.0
// Space for tile buffers in a PE's reserved TCM: the free bytes, and a buffer for every tile in flight. Timing contract
// §6, data rules §2. Buffers never overlap. A buffer is contiguous if a hole is large enough; otherwise it has several
// pieces, so fragmentation never makes free bytes unusable.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench::pe {

/// Nonempty pieces in address order; without pieces there is no buffer. Nearly all buffers have one piece, which needs
/// no vector.
struct TileBuffer {
  BufferPiece first;
  std::vector<BufferPiece> others;
  bool empty() const { return first.nbytes == 0; }
};

class TileBuffers {
 public:
  /// [0, nbytes) is free.
  explicit TileBuffers(uint64_t nbytes);

  uint64_t capacity() const { return capacity_; }
  uint64_t free_bytes() const { return free_bytes_; }
  /// Allocates more than 0 and at most free_bytes(). It reuses the last returned buffer if that has this size and one
  /// piece. Otherwise it uses the first hole that fits, else the first holes in sequence.
  TileBuffer take(uint64_t nbytes);
  void give_back(TileBuffer&&);

 private:
  void fill_returned();
  void fill(BufferPiece piece);

  uint64_t capacity_, free_bytes_;
  std::vector<BufferPiece> holes_;  ///< nonempty, disjoint and not adjacent, in address order; there are few, because
                                    ///< few tiles are in flight
  // Returned buffers that are not holes yet, because the next tile usually has the size of the last one. The last one
  // is stored separately, since a vector's memory is far from the other members.
  TileBuffer last_;
  std::vector<TileBuffer> returned_;  ///< earlier ones
};

}  // namespace kernbench::pe
