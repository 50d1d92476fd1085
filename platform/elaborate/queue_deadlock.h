// SPDX-License-Identifier: Apache-2.0
// Names the circle of PEs that wait for each other's messages or slots, where nothing can move any more (collectives
// contract §10.14).
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
  std::vector<uint64_t> calls;  ///< that its kernel waits for, by seq; empty: it waits for all that is outstanding
};

/// One line: the circle, PE by PE, each with what it waits for; where there is none, the chain that leads to a PE that
/// has ended. Empty where no PE waits for another.
std::string circle_of_waiting(Machine&, const std::vector<StuckPe>&);

}  // namespace kernbench::elaborate
