// SPDX-License-Identifier: Apache-2.0
// What a DRAM controller sends to its memory, and who may watch it. Plain C++: no SystemC here.
#pragma once

#include "kernbench/systemc_models/memory/dram_address_mapping.h"

namespace kernbench::memory {

/// JEDEC's names: RDA and WRA close their row by themselves; PREA and REF go to all banks of a stack ID, REFSB to one.
enum class DramOp : uint8_t { ACT, RD, RDA, WR, WRA, PRE, PREA, REF, REFSB };
inline const char* name_of(DramOp op) {
  constexpr const char* kNames[] = {"ACT", "RD", "RDA", "WR", "WRA", "PRE", "PREA", "REF", "REFSB"};
  return kNames[static_cast<int>(op)];
}

struct DramCommand {
  DramOp op = DramOp::ACT;
  Cycle cycle = 0;  ///< the last one that it takes on its bus
  DramPlace place;  ///< as far as the command says it
};

class DramCommandObserver {
 public:
  virtual ~DramCommandObserver() = default;
  /// The commands of one channel come in the order of their cycles on each bus. Those of refreshes that fall into a
  /// time in which nobody asked anything of the channel are told when somebody does again.
  virtual void command(const DramCommand&) = 0;
};

}  // namespace kernbench::memory
