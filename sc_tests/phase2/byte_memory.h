// SPDX-License-Identifier: Apache-2.0
// The simplest memory for tests: it stores every byte of every space separately.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::testing {

/// `Cell` represents one byte.
template <class Cell>
class ByteMemory {
 public:
  using Space = std::unordered_map<uint64_t, Cell>;

  /// The cells of a tensor, element by element in row-major order. Cells of unwritten bytes are created.
  template <class F>
  void each(const TensorRef& t, F f) {
    Space& space = spaces_[MemoryImage::key_of(t)];
    for (int64_t i = 0; i < t.shape.elements(); ++i) {
      int64_t offset = 0, rest = i;
      for (int d = t.shape.rank() - 1; d >= 0; --d) {
        offset += rest % t.shape[d] * t.strides[d];
        rest /= t.shape[d];
      }
      for (size_t b = 0; b < size_of(t.dtype); ++b) {
        f(space[t.address_at(static_cast<uint64_t>(offset) * size_of(t.dtype) + b)]);
      }
    }
  }
  std::vector<Cell> get(const TensorRef& t) {
    std::vector<Cell> cells;
    each(t, [&](Cell& c) { cells.push_back(c); });
    return cells;
  }
  void put(const TensorRef& t, const std::vector<Cell>& cells) {
    size_t i = 0;
    each(t, [&](Cell& c) { c = cells.at(i++); });
  }
  /// Copies ranges of memory to their positions in `value`, and back; for repeated bytes the later range wins.
  void from_ranges(const RangedOp& op, std::vector<Cell>& value) {
    each_in_ranges(op, [&](Cell& c, uint64_t at) { value.at(at) = c; });
  }
  void to_ranges(const RangedOp& op, const std::vector<Cell>& value) {
    each_in_ranges(op, [&](Cell& c, uint64_t at) { c = value.at(at); });
  }
  /// f(cell, position in the value), range by range.
  template <class F>
  void each_in_ranges(const RangedOp& op, F f) {
    Space& space = spaces_[{op.space, kNoPe}];
    for (const MovedRange& r : op.ranges) {
      for (uint64_t i = 0; i < r.nbytes; ++i) f(space[r.addr + i], r.offset + i);
    }
  }
  /// All real bytes of an image.
  void fill(const MemoryImage& image) {
    for (const auto& key : image.spaces()) {
      image.for_each_piece(key, [&](uint64_t addr, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
        for (uint64_t i = 0; e && i < n && !e->producer(); ++i) spaces_[key][addr + i] = Cell{e->data()[offset + i]};
      });
    }
  }
  const std::map<MemoryImage::SpaceKey, Space>& spaces() const { return spaces_; }

 private:
  std::map<MemoryImage::SpaceKey, Space> spaces_;
};

}  // namespace kernbench::testing
