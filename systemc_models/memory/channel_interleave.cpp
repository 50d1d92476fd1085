// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/channel_interleave.h"

#include <map>
#include <numeric>

namespace kernbench::memory {
namespace {

/// The xor of the digits of each number of `bits` bits.
const uint32_t* digits_table(unsigned digit_bits, unsigned bits) {
  static std::map<unsigned, std::vector<uint32_t>> tables;
  std::vector<uint32_t>& table = tables[digit_bits];
  if (!table.empty()) return table.data();
  table.resize(size_t{1} << bits);
  const uint32_t mask = (uint32_t{1} << digit_bits) - 1;
  for (uint32_t n = 1; n < table.size(); ++n) table[n] = table[n >> digit_bits] ^ (n & mask);
  return table.data();
}

}  // namespace

ChannelInterleave::ChannelInterleave(uint32_t channels, uint64_t interleave_bytes, uint64_t burst_bytes, bool hash)
    : channels_(channels),
      block_(interleave_bytes),
      turn_(interleave_bytes * channels),
      burst_(burst_bytes),
      hash_(hash && channels > 1),
      alike_(hash ? channels : 1) {
  if (!hash_) return;
  constexpr unsigned kMostBits = 12;  // size of a table, unless a digit has more bits
  const auto digit_bits = static_cast<unsigned>(__builtin_ctz(channels));
  table_bits_ = digit_bits * std::max(1u, kMostBits / digit_bits);
  table_mask_ = (uint64_t{1} << table_bits_) - 1;
  table_ = digits_table(digit_bits, table_bits_);
}

uint64_t ChannelInterleave::rows_of_whole_turns(uint64_t stride) const {
  if (stride != last_stride_) {
    last_stride_ = stride;
    last_rows_ = turn_.value() / std::gcd(stride, turn_.value());
  }
  return last_rows_;
}

/// For rows that are a power of two of rounds apart. In a cycle of rows, the lowest whole digit above that power takes
/// all its values equally often, and so does the xor. Lower digits are constant. Higher digits are constant from a row
/// on whose position in the cycle is 0.
uint64_t ChannelInterleave::count_alike(uint64_t turn, uint64_t turns_to_next, uint64_t rows) const {
  if (!hash_) {
    alike_[0] = rows;
    return 0;
  }
  std::fill(alike_.begin(), alike_.end(), uint64_t{0});
  const auto count_next = [&](uint64_t n) {
    for (rows -= n; n > 0; --n, turn += turns_to_next) ++alike_[digits_of(turn)];
  };
  const unsigned digit = static_cast<unsigned>(__builtin_ctzll(channels_.value()));
  const unsigned step = turns_to_next > 0 ? static_cast<unsigned>(__builtin_ctzll(turns_to_next)) : 0;
  const unsigned cycle = (step + digit - 1) / digit * digit + digit - step;  // log2 of the number of rows
  if (turns_to_next != uint64_t{1} << step || step + cycle > 63) {
    count_next(rows);
    return 0;
  }
  const uint64_t length = uint64_t{1} << cycle, place = turn >> step & (length - 1);
  count_next(std::min(rows, (length - place) & (length - 1)));
  const uint64_t cycles = rows >> cycle;
  rows -= cycles << cycle;
  turn += (cycles << cycle) * turns_to_next;
  count_next(rows);
  return cycles << (cycle - digit);
}

size_t ChannelInterleave::channel_of(uint64_t offset) const {
  const Place p = place_of(offset);
  return p.block ^ digits_of(p.turn);
}

}  // namespace kernbench::memory
