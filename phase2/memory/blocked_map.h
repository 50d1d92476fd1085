// SPDX-License-Identifier: Apache-2.0
// A sorted map from addresses to values that stores neighbours together in memory.
//
// Entries are stored in order in blocks of a few dozen, and a tree holds the blocks. A search touches a few cache
// lines, and a step to the next entry mostly touches none. A tree of single entries touches some for each level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Iterators are valid until the map changes. Functions that change it return a valid iterator.
template <class T>
class BlockedMap {
 public:
  struct Entry {
    uint64_t first;
    T second;
  };
  static constexpr size_t kMost = 48;  ///< entries per block

 private:
  using Block = std::vector<Entry>;
  /// No block is empty. The key of a block is at or before its first address and after all blocks before it.
  using Blocks = std::map<uint64_t, Block>;

  template <bool constant>
  class Position {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<constant, const Entry&, Entry&>;
    using pointer = std::conditional_t<constant, const Entry*, Entry*>;
    using BlockPosition = std::conditional_t<constant, typename Blocks::const_iterator, typename Blocks::iterator>;

    Position() = default;
    Position(BlockPosition block, size_t index) : block_(block), index_(index) {}
    reference operator*() const { return block_->second[index_]; }
    pointer operator->() const { return &block_->second[index_]; }
    Position& operator++() {
      if (++index_ == block_->second.size()) *this = {std::next(block_), 0};
      return *this;
    }
    Position& operator--() {
      if (index_ == 0) index_ = (--block_)->second.size();
      --index_;
      return *this;
    }
    bool operator==(const Position& o) const { return block_ == o.block_ && index_ == o.index_; }
    bool operator!=(const Position& o) const { return !(*this == o); }

   private:
    friend class BlockedMap;
    BlockPosition block_{};
    size_t index_ = 0;
  };

 public:
  using iterator = Position<false>;
  using const_iterator = Position<true>;

  iterator begin() { return {blocks_.begin(), 0}; }
  iterator end() { return {blocks_.end(), 0}; }
  const_iterator begin() const { return {blocks_.begin(), 0}; }
  const_iterator end() const { return {blocks_.end(), 0}; }
  bool empty() const { return blocks_.empty(); }
  size_t size() const {
    size_t n = 0;
    for (const auto& [name, block] : blocks_) n += block.size();
    return n;
  }

  /// lower_bound: the first entry at or after the address. upper_bound: the first one after it.
  iterator lower_bound(uint64_t address) { return first_not<iterator>(blocks_, starts_before(address), address); }
  iterator upper_bound(uint64_t address) { return first_not<iterator>(blocks_, starts_by(address), address); }
  const_iterator lower_bound(uint64_t address) const {
    return first_not<const_iterator>(blocks_, starts_before(address), address);
  }
  const_iterator upper_bound(uint64_t address) const {
    return first_not<const_iterator>(blocks_, starts_by(address), address);
  }

  /// `behind` must be the first entry after the address. Returns the new entry.
  iterator insert(iterator behind, uint64_t address, T&& value) {
    auto [block, index] = place_before(behind, address);
    if (block->second.size() == kMost) std::tie(block, index) = split(block, index, address);
    Block& entries = block->second;
    if (entries.size() == entries.capacity()) entries.reserve(std::min(kMost, 2 * entries.size() + 2));
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(index), Entry{address, std::move(value)});
    return {block, index};
  }

  /// Removes [first, last). Returns the entry that was at `last`.
  iterator erase(iterator first, iterator last) {
    if (first == last) return last;
    if (first.block_ == last.block_) {
      Block& entries = first.block_->second;
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(first.index_),
                    entries.begin() + static_cast<std::ptrdiff_t>(last.index_));
      return join(first);
    }
    auto block = first.block_;
    if (first.index_ > 0) {
      block->second.erase(block->second.begin() + static_cast<std::ptrdiff_t>(first.index_), block->second.end());
      ++block;
    }
    blocks_.erase(block, last.block_);
    if (last.block_ == blocks_.end()) return last;
    last.block_->second.erase(last.block_->second.begin(),
                              last.block_->second.begin() + static_cast<std::ptrdiff_t>(last.index_));
    return join({last.block_, 0});
  }
  iterator erase(iterator at) { return erase(at, std::next(at)); }

  /// Changes an entry's address to one between those of its neighbours. Its position and iterator stay valid.
  void move(iterator at, uint64_t address) {
    at->first = address;
    if (address < at.block_->first) {
      rename(at.block_, address);
    } else if (const auto next = std::next(at.block_); next != blocks_.end() && next->first <= address) {
      rename(next, next->second.front().first);
    }
  }

 private:
  using BlockPosition = typename Blocks::iterator;

  static auto starts_before(uint64_t address) {
    return [address](const Entry& e) { return e.first < address; };
  }
  static auto starts_by(uint64_t address) {
    return [address](const Entry& e) { return e.first <= address; };
  }
  template <class Result, class B, class F>
  static Result first_not(B& blocks, const F& before, uint64_t address) {
    auto block = blocks.upper_bound(address);
    if (block == blocks.begin()) return {block, 0};
    --block;
    auto& entries = block->second;
    const auto found = std::partition_point(entries.begin(), entries.end(), before);
    if (found == entries.end()) return {std::next(block), 0};
    return {block, static_cast<size_t>(found - entries.begin())};
  }

  /// The position of a new entry with that address.
  std::pair<BlockPosition, size_t> place_before(iterator behind, uint64_t address) {
    auto block = behind.block_;
    if (blocks_.empty()) return {blocks_.emplace(address, Block()).first, 0};
    if (behind.index_ > 0 || (block != blocks_.end() && block->first <= address)) return {block, behind.index_};
    if (block == blocks_.begin()) return {rename(block, address), 0};
    --block;
    return {block, block->second.size()};
  }

  /// Splits a full block. An entry at its end begins the next block, so that ascending addresses leave full blocks.
  std::pair<BlockPosition, size_t> split(BlockPosition block, size_t index, uint64_t address) {
    Block& entries = block->second;
    if (index == entries.size()) return {blocks_.emplace_hint(std::next(block), address, Block()), 0};
    const size_t half = entries.size() / 2;
    const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(half);
    const auto next = blocks_.emplace_hint(std::next(block), middle->first, Block());
    next->second.reserve(kMost);
    next->second.insert(next->second.end(), std::make_move_iterator(middle), std::make_move_iterator(entries.end()));
    entries.erase(middle, entries.end());
    if (index > half) return {next, index - half};
    return {block, index};
  }

  /// Merges a small block with a neighbour. Returns the new position of the entry.
  iterator join(iterator at) {
    if (at.block_->second.size() >= kMost / 4) return at;
    if (at.block_ != blocks_.begin()) {
      const auto before = std::prev(at.block_);
      const size_t n = before->second.size();
      if (take_next(before)) at = {before, n + at.index_};
    }
    take_next(at.block_);
    return at;
  }
  bool take_next(BlockPosition block) {
    const auto next = std::next(block);
    if (next == blocks_.end() || block->second.size() + next->second.size() > kMost / 2) return false;
    block->second.insert(block->second.end(), std::make_move_iterator(next->second.begin()),
                         std::make_move_iterator(next->second.end()));
    blocks_.erase(next);
    return true;
  }

  BlockPosition rename(BlockPosition block, uint64_t name) {
    auto node = blocks_.extract(block);
    node.key() = name;
    return blocks_.insert(std::move(node)).position;
  }

  Blocks blocks_;
};

}  // namespace kernbench::phase2
