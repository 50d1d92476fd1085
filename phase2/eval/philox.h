// SPDX-License-Identifier: Apache-2.0
// Philox 4x32 (Salmon et al., SC11), used as in Triton 3.
#pragma once

#include <array>
#include <cstdint>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// The four words of one draw. The key is the seed; the counter is (low half of the offset, high half, 0, 0).
inline std::array<uint32_t, 4> philox(uint64_t seed, uint64_t offset, int rounds) {
  constexpr uint32_t kKeyA = 0x9E3779B9, kKeyB = 0xBB67AE85;
  constexpr uint64_t kRoundA = 0xD2511F53, kRoundB = 0xCD9E8D57;
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0 = static_cast<uint32_t>(offset), c1 = static_cast<uint32_t>(offset >> 32), c2 = 0, c3 = 0;
  for (int i = 0; i < rounds; ++i, k0 += kKeyA, k1 += kKeyB) {
    const uint64_t a = kRoundA * c0, b = kRoundB * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(b);
    c3 = static_cast<uint32_t>(a);
  }
  return {c0, c1, c2, c3};
}

/// A word as a number in [0, 1): Triton's uint_to_uniform_float.
inline float uniform_of(uint32_t word) {
  const auto v = static_cast<int32_t>(word);
  return static_cast<float>(v < 0 ? -v - 1 : v) * 4.6566127342e-10f;
}

}  // namespace kernbench::phase2
