// SPDX-License-Identifier: Apache-2.0
// Detects a kernel that polls, by the number of accesses to one address. It watches a few addresses at a time, in a
// table with slow replacement, so that its cost does not grow with the run.
#pragma once

#include <array>
#include <cstdint>

#include "kernbench/phase2/rooms.h"

namespace kernbench::pe {

class PollWatch {
 public:
  static constexpr uint64_t kMany = 10'000'000;
  explicit PollWatch(uint64_t many = kMany) : many_(many) {}
  /// Returns true once: at the access that is number `many` for that address. It may be later, because addresses that
  /// share a table entry reduce each other's count.
  bool accesses(uint64_t address) {
    Place& p = places_[(address * 0x9e3779b97f4a7c15u) >> 58];
    if (p.count > 0 && p.address != address) {
      --p.count;
      return false;
    }
    p.address = address;
    return ++p.count == many_ && !told_ && (told_ = true);
  }
  uint64_t many() const { return many_; }

 private:
  struct Place {
    uint64_t address = 0, count = 0;
  };
  uint64_t many_;
  bool told_ = false;
  std::array<Place, 64> places_;
};

}  // namespace kernbench::pe
