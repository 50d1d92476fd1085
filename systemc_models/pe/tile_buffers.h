// SPDX-License-Identifier: Apache-2.0
// The room for tile buffers in a PE's reserved TCM: which bytes are free, and a buffer for every tile in flight. Timing
// contract §6, data rules §2. Buffers never overlap. One is contiguous where a hole is large enough; else it has
// several pieces, so free bytes are never too scattered to be used.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench::pe {

/// Its pieces by address, none of them empty; none at all: no buffer. Nearly all have one, which is kept without a
/// vector.
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
  /// Of at most free_bytes(), more than none: what was given back last where that is as large and of one piece, else
  /// the first hole that holds it, else the first holes one after the other.
  TileBuffer take(uint64_t nbytes);
  void give_back(TileBuffer&&);

 private:
  void fill_returned();
  void fill(BufferPiece piece);

  uint64_t capacity_, free_bytes_;
  std::vector<BufferPiece> holes_;  ///< by address, none is empty, no two touch: few, as tiles in flight are few
  // Given back, and no holes yet: the next tile is mostly as large as the last. That one stands by itself, without a
  // vector's memory, which is far from what is touched beside it.
  TileBuffer last_;
  std::vector<TileBuffer> returned_;  ///< before that one
};

}  // namespace kernbench::pe
