// SPDX-License-Identifier: Apache-2.0
// The 51-bit physical address map of a hierarchical topology.
//
//   [50:47] SIP   [46:42] die: 0..15 cubes, 16..20 IO chiplets   [41:0] offset in the die
//
// A cube uses the low 256 GiB of its die: HBM slices, one per PE, from offset 0 to 128 GiB; then windows local to its
// PEs and its M_CPU; its shared SRAM at 224 GiB.
#pragma once

#include <cstdint>

namespace kernbench::topology {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint32_t kMostSips = 16, kMostCubes = 16, kMostIoChiplets = 5;
constexpr uint32_t kFirstIoDie = 16;
constexpr int kSipShift = 47, kDieShift = 42;

constexpr uint64_t kHbmWindow = 0, kHbmWindowSize = 128 * kGiB;
constexpr uint64_t kPeLocalWindow = 128 * kGiB, kPeLocalWindowSize = 64 * kGiB;
constexpr uint64_t kMCpuLocalWindow = 192 * kGiB, kMCpuLocalWindowSize = 32 * kGiB;
constexpr uint64_t kSramWindow = 224 * kGiB, kSramWindowSize = 32 * kGiB;

struct PhysicalAddress {
  uint32_t sip = 0;
  uint32_t die = 0;
  uint64_t offset = 0;  ///< bytes, below 2^42
};

constexpr uint64_t encode(const PhysicalAddress& a) {
  return (uint64_t{a.sip} << kSipShift) | (uint64_t{a.die} << kDieShift) | a.offset;
}
constexpr PhysicalAddress decode(uint64_t address) {
  return {static_cast<uint32_t>(address >> kSipShift) & 0xf, static_cast<uint32_t>(address >> kDieShift) & 0x1f,
          address & ((uint64_t{1} << kDieShift) - 1)};
}

}  // namespace kernbench::topology
