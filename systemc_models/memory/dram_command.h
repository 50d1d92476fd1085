// SPDX-License-Identifier: Apache-2.0
// Commands that a DRAM controller sends to its memory, and the interface of their observers. Plain C++, no SystemC.
#pragma once

#include "kernbench/systemc_models/memory/dram_address_mapping.h"

namespace kernbench::memory {

/// JEDEC's names. RDA and WRA close their row themselves. PREA and REF apply to all banks of a stack ID, REFSB to one.
enum class DramOp : uint8_t { ACT, RD, RDA, WR, WRA, PRE, PREA, REF, REFSB };
inline const char* name_of(DramOp op) {
  constexpr const char* kNames[] = {"ACT", "RD", "RDA", "WR", "WRA", "PRE", "PREA", "REF", "REFSB"};
  return kNames[static_cast<int>(op)];
}

struct DramCommand {
  DramOp op = DramOp::ACT;
  Cycle cycle = 0;  ///< the last cycle that it occupies on its bus
  DramPlace place;  ///< only the fields that the command contains
};

class DramCommandObserver {
 public:
  virtual ~DramCommandObserver() = default;
  /// Commands of one channel are reported in the order of their cycles on each bus. Refreshes during an idle time of
  /// the channel are reported at the next request.
  virtual void command(const DramCommand&) = 0;
};

}  // namespace kernbench::memory
