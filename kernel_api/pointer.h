// SPDX-License-Identifier: Apache-2.0
// Typed pointers into a memory of the system, and blocks: the operands of tl.load and tl.store.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "kernbench/kernel_api/here.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench::tl {

class Block;

/// Bounds of accesses through a pointer: the bytes of the shard, tensor or SRAM that it was derived from.
struct Bounds {
  uint64_t begin = 0, nbytes = std::numeric_limits<uint64_t>::max();
  const char* of = nullptr;  ///< name of the object, for messages; owned by the launch's arguments
  bool hold(uint64_t addr, uint64_t n) const { return addr >= begin && n <= nbytes && addr - begin <= nbytes - n; }
  /// "x [0x1000, 0x2000)".
  std::string to_string() const;
};

/// A typed address. Arithmetic counts elements, as in C and Triton: `p + n` is n elements further, with p's bounds. A
/// pointer made from a bare address has no bounds.
struct Ptr {
  Space space = Space::hbm;
  uint64_t addr = 0;  ///< bytes
  DType dtype = DType::f32;
  Bounds bounds;

  Ptr() = default;
  Ptr(Space s, uint64_t a, DType t) : space(s), addr(a), dtype(t) {}

  Ptr operator+(int64_t elements) const {
    Ptr p = *this;
    p.addr += static_cast<uint64_t>(elements) * size_of(dtype);
    return p;
  }
  Ptr operator-(int64_t elements) const { return *this + (-elements); }
  Ptr& operator+=(int64_t elements) { return *this = *this + elements; }
  Ptr& operator-=(int64_t elements) { return *this = *this - elements; }
  bool operator==(const Ptr& o) const { return space == o.space && addr == o.addr && dtype == o.dtype; }
  bool operator!=(const Ptr& o) const { return !(*this == o); }

  /// The same address, read as another type.
  Ptr cast(DType t) const {
    Ptr p = *this;
    p.dtype = t;
    return p;
  }
  /// This pointer, with bounds of so many bytes from here on.
  Ptr bounded(uint64_t nbytes, const char* of) const {
    Ptr p = *this;
    p.bounds = {addr, nbytes, of};
    return p;
  }
  /// The same address without bounds, for accesses to any memory of the system.
  Ptr unbounded() const { return {space, addr, dtype}; }

  /// The tensor of `shape` that begins here. `ld` is the distance in elements between rows (all dimensions but the
  /// last, flattened); 0 means dense. One command and one transaction move a block, whatever its strides.
  Block block(const Dims& shape, int64_t ld = 0, KERNBENCH_TL_HERE) const;

  /// "hbm 0x1000 f32".
  std::string to_string() const;
};

/// A rectangular piece of a tensor in memory, of any rank. The distance between its rows (all dimensions but the last,
/// flattened) may exceed their length. KernelFault for a dimension under 1 or a row stride under the row's length.
class Block {
 public:
  Block() = default;
  Block(Ptr ptr, const Dims& shape, int64_t ld = 0, KERNBENCH_TL_HERE);

  const Ptr& ptr() const { return ptr_; }
  const Dims& shape() const { return shape_; }
  int64_t ld() const { return ld_; }
  DType dtype() const { return ptr_.dtype; }

  /// The rows × cols piece at (row, col) of a rank-2 block, or `count` elements from `first` of a rank-1 block. It must
  /// be inside.
  Block tile(int64_t row, int64_t col, int64_t rows, int64_t cols, KERNBENCH_TL_HERE) const;
  Block slice(int64_t first, int64_t count, KERNBENCH_TL_HERE) const;
  /// Rows [first, first + count) of a rank-2 block.
  Block rows(int64_t first, int64_t count, KERNBENCH_TL_HERE) const;

  TensorRef ref() const;
  /// "[4, 8] f32 at hbm 0x1000, row stride 16".
  std::string to_string() const;

 private:
  Ptr ptr_;
  Dims shape_;
  int64_t ld_ = 1;
};

}  // namespace kernbench::tl
