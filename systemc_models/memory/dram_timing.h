// SPDX-License-Identifier: Apache-2.0
// Timing parameters of a DRAM by their JEDEC names, in clock cycles of tCK, and the presets of HBM generations. What
// each value of a preset rests on stands in docs/memory_models.md. Plain C++: no SystemC here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::memory {

/// Of the DRAM's clock. 2^63 are enough for 180 years at 1.6 GHz.
using Cycle = int64_t;
constexpr Cycle kNoCycle = INT64_MAX;  ///< never

/// From command to command in cycles of tCK, unless said otherwise. "S": to another bank group, "L": in the same one,
/// "R": to another stack ID.
struct DramTiming {
  uint32_t tCK_ps = 0;                       ///< the clock's period, ps
  uint32_t tBURST = 0;                       ///< a burst on the data bus: BL over the data rate
  uint32_t tACT = 0;                         ///< an ACT on the row bus; its other times count from its last cycle
  uint32_t tCL = 0, tCWL = 0;                ///< RD, WR to their data
  uint32_t tRCDRD = 0, tRCDWR = 0;           ///< ACT to RD, WR of the bank
  uint32_t tRP = 0, tRAS = 0, tRC = 0;       ///< PRE to ACT, ACT to PRE, ACT to ACT of the bank
  uint32_t tCCDS = 0, tCCDL = 0, tCCDR = 0;  ///< RD to RD, WR to WR
  uint32_t tRRDS = 0, tRRDL = 0;             ///< ACT to ACT of another bank
  uint32_t tFAW = 0;                         ///< first to fifth ACT of a stack ID
  uint32_t tWR = 0;                          ///< end of write data to PRE of the bank
  uint32_t tWTRS = 0, tWTRL = 0;             ///< end of write data to RD
  uint32_t tRTP = 0;                         ///< RD to PRE of the bank
  uint32_t tRTW = 0;                         ///< RD to WR
  uint32_t tREFI = 0;                        ///< mean interval of refreshes of all banks
  uint32_t tRFC = 0;                         ///< refresh of all banks to the next ACT
  uint32_t tRFCSB = 0;                       ///< refresh of a single bank to its next ACT
  uint32_t tRREFD = 0;                       ///< refresh of a single bank to ACT or refresh of another
};

/// What a controller's memory is made of; counts are powers of two.
struct DramGeometry {
  uint32_t channels = 0;         ///< each with its own command buses
  uint32_t pseudo_channels = 0;  ///< of a channel: each with its own data bus
  uint32_t stack_ids = 0;        ///< of a pseudo-channel: what DIMMs call ranks
  uint32_t bank_groups = 0;      ///< of a stack ID
  uint32_t banks = 0;            ///< of a group
  uint32_t page_bytes = 0;       ///< of an open row
  uint32_t burst_bytes = 0;      ///< what a column command moves
  uint32_t banks_of_stack_id() const { return bank_groups * banks; }
  uint32_t banks_of_channel() const { return pseudo_channels * stack_ids * banks_of_stack_id(); }
};

struct DramPreset {
  DramTiming timing;
  DramGeometry geometry;  ///< channels: of the controller where nothing is said
};

/// "hbm2", "hbm2e", "hbm3".
std::vector<std::string> dram_presets();
/// std::invalid_argument for another name.
const DramPreset& dram_preset(const std::string& name);

/// From where a row's ACT may begin, its RD or WR, its PRE, to the bank's next ACT, at the least.
uint64_t row_cycles(const DramTiming&);

/// What of the values cannot be together, as an attribute and one line; none: they can.
struct DramFault {
  std::string attribute, text;
};
std::optional<DramFault> fault_of(const DramTiming&, const DramGeometry&);

}  // namespace kernbench::memory
