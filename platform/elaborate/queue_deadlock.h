// SPDX-License-Identifier: Apache-2.0
// Finds the circle of PEs that wait for each other's messages or slots when nothing can move (collectives rules
// §10.14).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

class Machine;

/// A PE that has not ended.
struct StuckPe {
  uint32_t pe = 0;              ///< index in compiled order
  std::vector<uint64_t> calls;  ///< calls that its kernel waits for, by seq; empty: all outstanding ones
};

/// One line: the circle with each PE's wait, or, without a circle, the chain to a PE that has ended. Empty if no PE
/// waits for another.
std::string circle_of_waiting(Machine&, const std::vector<StuckPe>&);

}  // namespace kernbench::elaborate
