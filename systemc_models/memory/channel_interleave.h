// SPDX-License-Identifier: Apache-2.0
// Distribution of an hbm_pc's bytes over its pseudo-channels (timing rules §4). Blocks of interleave_bytes go to the
// channels round robin. With the hash, a block goes to the xor of all digits of its number in base `channels`. A
// channel moves complete bursts.
//
// A round (a "turn" in the code) has one block for each channel. With and without the hash, each channel gets one block
// of it, so complete rounds are counted at once. Rows that are whole rounds apart use the same channels up to a
// permutation. For any stride, every n-th row is whole rounds apart, for a small n.
//
// With the hash, let rows be a power of two of rounds apart. Over a cycle of a digit of the round's number they use all
// channels equally often. So only the bytes of one row are counted. Positions advance from row to row by addition,
// without division.
//
// Plain C++ except for Rows: no SystemC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernbench/systemc_models/memory/bursts.h"

namespace kernbench::memory {

class ChannelInterleave {
 public:
  /// `burst_bytes`: a divisor of interleave_bytes. `hash`: xor; `channels` must then be a power of two.
  ChannelInterleave(uint32_t channels, uint64_t interleave_bytes, uint64_t burst_bytes, bool hash);

  const Divisor& burst() const { return burst_; }
  /// Offsets are from the first byte of the memory.
  size_t channel_of(uint64_t offset) const;
  /// Visits the traffic of rows from `offset` on, in address order. chunk(channel, bytes): bytes of the complete bursts
  /// that are touched in one block. turns(n): n complete blocks for each channel.
  template <class Chunk, class Turns>
  void visit(uint64_t offset, const Rows& rows, Chunk chunk, Turns turns) const {
    Place p = place_of(offset);
    Digits digits(*this, p.turn);
    if (rows.ranges) {
      for_each_range(offset, rows, [&](uint64_t at, uint64_t bytes) {
        const Place here = place_of(at);
        if (here.byte + bytes > block_.value()) return visit_range(here, bytes, digits, chunk, turns);
        chunk(here.block ^ digits(here.turn), bytes_of_bursts(here.byte, bytes, burst_));  // the usual case
      });
      return;
    }
    const Place to_next = place_of(rows.stride);
    for_each_range(offset, rows, [&](uint64_t, uint64_t bytes) {
      visit_range(p, bytes, digits, chunk, turns);
      add(p, to_next);
    });
  }
  /// The same in any order; equal rows are visited once. chunk(channel, bytes, times). all(bytes, times): for each
  /// channel.
  template <class Chunk, class All>
  void visit_alike(uint64_t offset, const Rows& rows, Chunk chunk, All all) const;

 private:
  /// Position of a byte: the round, the block in it, the byte in the block.
  struct Place {
    uint64_t turn, block, byte;
  };
  Place place_of(uint64_t offset) const;
  void add(Place&, const Place& more) const;
  /// Xor of a number's digits in base `channels`; 0 without the hash.
  uint64_t digits_of(uint64_t turn) const {
    uint64_t all = 0;
    for (uint64_t rest = hash_ ? turn : 0; rest > 0; rest >>= table_bits_) all ^= table_[rest & table_mask_];
    return all;
  }
  /// Caches digits_of() of the last round.
  class Digits {
   public:
    Digits(const ChannelInterleave& of, uint64_t turn) : of_(of), turn_(turn), digits_(of.digits_of(turn)) {}
    uint64_t operator()(uint64_t turn) {
      if (turn == turn_) return digits_;
      turn_ = turn;
      return digits_ = of_.digits_of(turn);
    }

   private:
    const ChannelInterleave& of_;
    uint64_t turn_, digits_;
  };
  template <class Chunk, class Turns>
  void visit_range(Place, uint64_t bytes, Digits& digits, Chunk& chunk, Turns& turns) const;
  /// visit_alike() row by row.
  template <class Chunk, class All>
  void visit_each(uint64_t offset, const Rows& rows, Chunk& chunk, All& all) const;
  /// visit_alike() for rows that are whole rounds apart.
  template <class Chunk, class All>
  void visit_turns_apart(uint64_t offset, const Rows& rows, Chunk& chunk, All& all) const;
  /// The smallest number of rows with that stride that span whole rounds.
  uint64_t rows_of_whole_turns(uint64_t stride) const;

  /// Whether rows that are whole rounds apart use the same channels up to a permutation. With the hash, each row must
  /// lie in one round, because blocks of the next round are xor-ed with another number.
  bool are_alike(const Place& first, uint64_t bytes) const {
    return !hash_ || first.block * block_.value() + first.byte + bytes <= turn_.value();
  }
  /// Counts the rows by the number that is xor-ed with their channels. Each number occurs as often as the returned
  /// count, plus alike_[x].
  uint64_t count_alike(uint64_t turn, uint64_t turns_to_next, uint64_t rows) const;

  Divisor channels_, block_, turn_, burst_;  ///< in bytes, except channels_
  bool hash_;
  /// For each number of that many bits (complete digits): the xor of its digits.
  const uint32_t* table_ = nullptr;
  unsigned table_bits_ = 0;
  uint64_t table_mask_ = 0;
  mutable std::vector<uint64_t> alike_;               ///< scratch of count_alike()
  mutable uint64_t last_stride_ = 0, last_rows_ = 1;  ///< cache of rows_of_whole_turns(): last argument and result
};

inline ChannelInterleave::Place ChannelInterleave::place_of(uint64_t offset) const {
  const uint64_t block = block_.quotient(offset), turn = channels_.quotient(block);
  return {turn, block - turn * channels_.value(), offset - block * block_.value()};
}

inline void ChannelInterleave::add(Place& p, const Place& more) const {
  p.byte += more.byte;
  p.block += more.block;
  p.turn += more.turn;
  if (p.byte >= block_.value()) {
    p.byte -= block_.value();
    ++p.block;
  }
  if (p.block >= channels_.value()) {
    p.block -= channels_.value();
    ++p.turn;
  }
}

/// Every `period`-th row is whole rounds after the one before. If there are several, they are counted together.
template <class Chunk, class All>
void ChannelInterleave::visit_alike(uint64_t offset, const Rows& rows, Chunk chunk, All all) const {
  const bool apart = !rows.ranges && rows.count > 1 && rows.stride > rows.bytes;
  const uint64_t period = apart ? rows_of_whole_turns(rows.stride) : 0;
  if (!apart || rows.count < 2 * period) return visit_each(offset, rows, chunk, all);
  const uint64_t periods = rows.count / period, rest = rows.count - periods * period;
  for (uint64_t row = 0; row < period; ++row, offset += rows.stride)
    visit_turns_apart(offset, {periods + (row < rest), rows.bytes, rows.stride * period}, chunk, all);
}

template <class Chunk, class All>
void ChannelInterleave::visit_each(uint64_t offset, const Rows& rows, Chunk& chunk, All& all) const {
  visit(
      offset, rows, [&](size_t channel, uint64_t bytes) { chunk(channel, bytes, uint64_t{1}); },
      [&](uint64_t turns) { all(block_.value(), turns); });
}

template <class Chunk, class All>
void ChannelInterleave::visit_turns_apart(uint64_t offset, const Rows& rows, Chunk& chunk, All& all) const {
  Place first = place_of(offset);
  if (!are_alike(first, rows.bytes)) return visit_each(offset, rows, chunk, all);
  const uint64_t even = count_alike(first.turn, turn_.quotient(rows.stride), rows.count);
  first.turn = 0;
  Digits of_first_turn(*this, first.turn);
  if (even > 0) {
    uint64_t bytes_of_row = 0;
    auto add_chunk = [&](size_t, uint64_t bytes) { bytes_of_row += bytes; };
    auto add_turns = [&](uint64_t turns) { bytes_of_row += turns * turn_.value(); };
    visit_range(first, rows.bytes, of_first_turn, add_chunk, add_turns);
    all(bytes_of_row, even);
    if (rows.count == even * alike_.size()) return;
  }
  for (size_t digits = 0; digits < alike_.size(); ++digits) {
    const uint64_t n = alike_[digits];
    if (n == 0) continue;
    auto each = [&](size_t channel, uint64_t bytes) { chunk(channel ^ digits, bytes, n); };
    auto whole = [&](uint64_t turns) { all(block_.value(), turns * n); };
    visit_range(first, rows.bytes, of_first_turn, each, whole);
  }
}

template <class Chunk, class Turns>
void ChannelInterleave::visit_range(Place p, uint64_t bytes, Digits& digits, Chunk& chunk, Turns& turns) const {
  while (bytes > 0) {
    if (p.block == 0 && p.byte == 0 && bytes >= turn_.value()) {
      const uint64_t n = turn_.quotient(bytes);
      turns(n);
      bytes -= n * turn_.value();
      p.turn += n;
      continue;
    }
    const uint64_t here = std::min(bytes, block_.value() - p.byte);
    chunk(p.block ^ digits(p.turn), here == block_.value() ? here : bytes_of_bursts(p.byte, here, burst_));
    bytes -= here;
    p.byte = 0;
    if (++p.block == channels_.value()) {
      p.block = 0;
      ++p.turn;
    }
  }
}

}  // namespace kernbench::memory
