// SPDX-License-Identifier: Apache-2.0
// A translation look-aside buffer as far as time goes: which pages are in it. Fully associative, LRU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "kernbench/phase2/rooms.h"

namespace kernbench::pe {

class Tlb {
 public:
  /// `entries` ≥ 1: pages that it holds at once.
  explicit Tlb(size_t entries) : entries_(entries) {}

  /// Looks a page up and makes it the most recently used; a miss puts it in, in place of the least recently used.
  /// Returns whether it was there.
  bool look_up(uint64_t page);
  /// Forgets the pages from `first` to `last`, both included.
  void drop(uint64_t first, uint64_t last);
  size_t size() const { return where_.size(); }

 private:
  size_t entries_;
  std::list<uint64_t> pages_;  ///< the most recently used first
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> where_;
};

}  // namespace kernbench::pe
