// SPDX-License-Identifier: Apache-2.0
// The contents of a range of memory at an instant, stored separately: the payload of a message (collectives rules
// §11.1). Shares buffers. Pending bytes stay pending and keep their producer.
#pragma once

#include <cstdint>
#include <memory>

#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::phase2 {

class RangeValue {
 public:
  /// From a tensor, row by row.
  RangeValue(const MemoryImage&, const TensorRef&);
  RangeValue(const MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, uint64_t nbytes);
  /// Writes the contents from byte `from` on to [addr, addr + n). Bytes that were unwritten leave the memory unchanged.
  void put(MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, uint64_t from, uint64_t n) const;
  /// Copies the real ones of the n bytes from `from` on; other bytes of `out` are unchanged.
  void copy(uint64_t from, uint64_t n, uint8_t* out) const;
  /// Calls f(byte of the range, nbytes, extent, offset in extent) for the pieces of [from, from + n), like
  /// MemoryImage::for_each_piece.
  template <class F>
  void for_each_piece(uint64_t from, uint64_t n, const F& f) const {
    held_->for_each_piece(from, n, from, f);
  }

 private:
  std::shared_ptr<const MemoryImage::List> held_;
};

}  // namespace kernbench::phase2
