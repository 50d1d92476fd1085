// The room for tile buffers in a PE's reserved TCM: which bytes are free, and a buffer for every tile in flight. Timing
// contract §6, data contract §2. Buffers never overlap. One is contiguous where a hole is large enough; else it has
// several pieces, so free bytes are never too scattered to be used.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench {

class TileBuffers {
 public:
  /// Its pieces by address: none is empty.
  using Buffer = std::vector<BufferPiece>;

  /// [0, nbytes) is free.
  explicit TileBuffers(uint64_t nbytes);

  uint64_t capacity() const { return capacity_; }
  uint64_t free_bytes() const { return free_bytes_; }
  /// Of at most free_bytes(), more than none: what was given back last where that is as large and of one piece, else
  /// the first hole that holds it, else the first holes one after the other. It stays where it is until it is given
  /// back.
  Buffer& take(uint64_t nbytes);
  void give_back(Buffer&);

 private:
  Buffer& idle_buffer();
  void fill_returned();
  void fill(BufferPiece piece);

  uint64_t capacity_, free_bytes_;
  std::vector<BufferPiece> holes_;  ///< by address, none is empty, no two touch: few, as tiles in flight are few
  std::deque<Buffer> buffers_;      ///< all that there have been
  std::vector<Buffer*> idle_;       ///< of these, those that nobody has
  /// Given back, and no holes yet: the next tile is mostly as large as the last.
  std::vector<Buffer*> returned_;
};

}  // namespace kernbench
