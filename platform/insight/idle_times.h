// SPDX-License-Identifier: Apache-2.0
// Idle times of PEs between kernels, by cause: the slowest PE of their launch, or launches on other PEs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::insight {

/// Times in ns. PEs by index.
class IdleTimes {
 public:
  explicit IdleTimes(size_t pes) : pes_(pes) {}

  void starts(size_t pe, double t);
  void ends(size_t pe, double t);
  /// The PE's kernel exchanges messages or flags, so its waits are no imbalance.
  void exchanges(size_t pe) { pes_[pe].exchanges = true; }
  /// All PEs of a launch have ended.
  void launch_ends(uint32_t launch, const std::vector<size_t>& pes);

  /// Sums over the PEs of `works`, until `end`.
  struct Found {
    double slowest = 0;        ///< PEs wait for the slowest PE of their launch
    uint32_t launch = 0;       ///< the launch with most of it
    size_t pe = 0;             ///< its slowest PE
    double others = 0;         ///< PEs wait while a launch runs on other PEs
    size_t waits_most = 0;     ///< the PE that waits longest for others
    double waits_most_ns = 0;  ///< its wait
  };
  Found found(const std::vector<bool>& works, double end);

 private:
  struct Pe {
    double from = -1, to = -1;  ///< span of its last kernel; negative: none
    double busy = 0;
    double waits = 0, slowest = 0;  ///< for the end of launches; part of kernels without exchanges
    double launch_to = -1;          ///< when the last PE of its launch ended
    uint32_t launch = 0;
    bool runs = false, exchanges = false, alone = true;
  };
  struct Slowest {
    double ns = 0, most = -1;
    size_t pe = 0;
  };
  void settle(Pe&, double t);

  std::vector<Pe> pes_;
  std::map<uint32_t, Slowest> launches_;
  std::vector<std::pair<double, double>> busy_;  ///< windows in which some PE runs a kernel
};

}  // namespace kernbench::insight
