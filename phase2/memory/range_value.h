// SPDX-License-Identifier: Apache-2.0
// What a range of memory holds at an instant, kept apart from it: what a message carries (collectives rules §11.1).
// Shares buffers; what is pending stays so, with who makes it.
#pragma once

#include <cstdint>
#include <memory>

#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::phase2 {

class RangeValue {
 public:
  /// Of a tensor, row behind row.
  RangeValue(const MemoryImage&, const TensorRef&);
  RangeValue(const MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, uint64_t nbytes);
  /// Makes [addr, addr + n) what the range held from byte `from` on. What it held unwritten leaves the memory as it is.
  void put(MemoryImage&, MemoryImage::SpaceKey, uint64_t addr, uint64_t from, uint64_t n) const;
  /// The n bytes from byte `from` on, as far as they are real; others of `out` stay as they are.
  void copy(uint64_t from, uint64_t n, uint8_t* out) const;
  /// Calls f(byte of the range, nbytes, extent, offset in extent) for what it holds of [from, from + n), as
  /// MemoryImage::for_each_piece.
  template <class F>
  void for_each_piece(uint64_t from, uint64_t n, const F& f) const {
    held_->for_each_piece(from, n, from, f);
  }

 private:
  std::shared_ptr<const MemoryImage::List> held_;
};

}  // namespace kernbench::phase2
