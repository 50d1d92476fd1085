#include "kernbench/systemc_models/memory/channel_interleave.h"

namespace kernbench {

ChannelInterleave::ChannelInterleave(uint32_t channels, uint64_t interleave_bytes, uint64_t burst_bytes, bool hash)
    : channels_(channels),
      block_(interleave_bytes),
      turn_(interleave_bytes * channels),
      burst_(burst_bytes),
      digit_bits_(static_cast<unsigned>(__builtin_ctz(channels))),
      alike_(hash ? channels : 1) {
  if (!hash || channels == 1) return;
  for (widest_fold_ = digit_bits_; 2 * widest_fold_ < 64;) widest_fold_ *= 2;
}

ChannelInterleave::Place ChannelInterleave::place_of(uint64_t offset) const {
  const uint64_t block = block_.quotient(offset), turn = channels_.quotient(block);
  return {turn, block - turn * channels_.value(), offset - block * block_.value()};
}

/// With the hash as long as they stay in one turn: those of the next are xor-ed with something else.
bool ChannelInterleave::are_alike(const Place& first, const Place& to_next, const Rows& rows) const {
  const bool whole_turns =
      !rows.ranges && rows.count > 1 && rows.stride != rows.bytes && to_next.block == 0 && to_next.byte == 0;
  return whole_turns && (widest_fold_ == 0 || first.block * block_.value() + first.byte + rows.bytes <= turn_.value());
}

void ChannelInterleave::count_alike(uint64_t turn, uint64_t turns_to_next, uint64_t rows) const {
  if (widest_fold_ == 0) {
    alike_[0] = rows;
    return;
  }
  std::fill(alike_.begin(), alike_.end(), uint64_t{0});
  unsigned widest = widest_fold_;  // what lies above the last turn's digits are zeros
  while (widest > digit_bits_ && (turn + (rows - 1) * turns_to_next) >> widest == 0) widest /= 2;
  for (; rows > 0; --rows, turn += turns_to_next) ++alike_[folded(turn, widest)];
}

size_t ChannelInterleave::channel_of(uint64_t offset) const {
  const Place p = place_of(offset);
  return p.block ^ digits_of(p.turn);
}

}  // namespace kernbench
