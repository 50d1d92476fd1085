// What the node kinds are (timing contract §1, §2): the one table of them.
#pragma once

#include <string>

namespace kernbench::topology {

struct KindInfo {
  bool transit = false;    ///< may stand inside a path unless the node says otherwise
  bool initiator = false;  ///< issues memory transactions
  const char* space = "";  ///< of the memory it holds: "hbm", "sram" or none
};

/// Null for a kind that only a user's block knows: an end that may be declared transit.
const KindInfo* find_kind(const std::string& kind);

}  // namespace kernbench::topology
