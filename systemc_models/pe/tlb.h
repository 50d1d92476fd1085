// SPDX-License-Identifier: Apache-2.0
// Timing model of a translation look-aside buffer: the set of its pages. Fully associative, LRU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "kernbench/phase2/rooms.h"

namespace kernbench::pe {

class Tlb {
 public:
  /// `entries` ≥ 1: its capacity in pages.
  explicit Tlb(size_t entries) : entries_(entries) {}

  /// Looks a page up and makes it the most recently used. A miss replaces the least recently used page. Returns whether
  /// it was a hit.
  bool look_up(uint64_t page);
  /// Removes the pages from `first` to `last`, inclusive.
  void drop(uint64_t first, uint64_t last);
  size_t size() const { return where_.size(); }

 private:
  size_t entries_;
  std::list<uint64_t> pages_;  ///< the most recently used first
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> where_;
};

}  // namespace kernbench::pe
