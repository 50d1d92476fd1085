// SPDX-License-Identifier: Apache-2.0
// Timing parameters of a DRAM by their JEDEC names, in clock cycles of tCK, and presets of HBM generations.
// docs/memory_models.md has the source of each preset value. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::memory {

/// Cycles of the DRAM's clock. 2^63 suffice for 180 years at 1.6 GHz.
using Cycle = int64_t;
constexpr Cycle kNoCycle = INT64_MAX;  ///< never

/// Distances between commands in cycles of tCK, unless stated otherwise. "S": to another bank group, "L": in the same
/// one, "R": to another stack ID.
struct DramTiming {
  uint32_t tCK_ps = 0;                       ///< the clock's period, ps
  uint32_t tBURST = 0;                       ///< a burst on the data bus: BL divided by the data rate
  uint32_t tACT = 0;                         ///< an ACT on the row bus; its other timings count from its last cycle
  uint32_t tCL = 0, tCWL = 0;                ///< RD, WR to data
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

/// Organisation of a controller's memory; all counts are powers of two.
struct DramGeometry {
  uint32_t channels = 0;         ///< each with its own command buses
  uint32_t pseudo_channels = 0;  ///< per channel, each with its own data bus
  uint32_t stack_ids = 0;        ///< per pseudo-channel: called ranks in DIMMs
  uint32_t bank_groups = 0;      ///< per stack ID
  uint32_t banks = 0;            ///< per group
  uint32_t page_bytes = 0;       ///< size of an open row
  uint32_t burst_bytes = 0;      ///< moved by one column command
  uint32_t banks_of_stack_id() const { return bank_groups * banks; }
  uint32_t banks_of_channel() const { return pseudo_channels * stack_ids * banks_of_stack_id(); }
};

struct DramPreset {
  DramTiming timing;
  DramGeometry geometry;  ///< channels: the controller's default
};

/// "hbm2", "hbm2e", "hbm3".
std::vector<std::string> dram_presets();
/// std::invalid_argument for any other name.
const DramPreset& dram_preset(const std::string& name);

/// Minimum time from a row's ACT through its RD or WR and its PRE to the bank's next ACT.
uint64_t row_cycles(const DramTiming&);

/// Values that are inconsistent with each other, as an attribute and one line; empty if there are none.
struct DramFault {
  std::string attribute, text;
};
std::optional<DramFault> fault_of(const DramTiming&, const DramGeometry&);

}  // namespace kernbench::memory
