// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/dram_timing.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace kernbench::memory {
namespace {

/// 2.0 Gb/s per pin, 64 pins and BL4 per pseudo-channel: 16 GB/s.
DramPreset hbm2() {
  DramTiming t;
  t.tCK_ps = 1000;
  t.tBURST = 2;
  t.tACT = 2;
  t.tCL = 17;
  t.tCWL = 7;
  t.tRCDRD = 12;
  t.tRCDWR = 6;
  t.tRP = 14;
  t.tRAS = 28;
  t.tRC = 42;
  t.tCCDS = 2;
  t.tCCDL = 3;
  t.tCCDR = 3;
  t.tRRDS = 4;
  t.tRRDL = 6;
  t.tFAW = 16;
  t.tWR = 14;
  t.tWTRS = 4;
  t.tWTRL = 9;
  t.tRTP = 5;
  t.tRTW = 18;
  t.tREFI = 3900;
  t.tRFC = 350;
  t.tRFCSB = 160;
  t.tRREFD = 8;
  return {t, {4, 2, 1, 4, 4, 1024, 32}};
}

/// 3.2 Gb/s per pin, 64 pins and BL4 per pseudo-channel: 25.6 GB/s. Cell timings in ns are those of hbm2.
DramPreset hbm2e() {
  DramPreset p = hbm2();
  DramTiming& t = p.timing;
  t.tCK_ps = 625;
  t.tCL = 28;
  t.tCWL = 12;
  t.tRCDRD = 20;
  t.tRCDWR = 10;
  t.tRP = 23;
  t.tRAS = 45;
  t.tRC = 68;
  t.tCCDL = 4;
  t.tRRDS = 7;
  t.tRRDL = 10;
  t.tFAW = 26;
  t.tWR = 23;
  t.tWTRS = 7;
  t.tWTRL = 15;
  t.tRTP = 8;
  t.tRTW = 28;
  t.tREFI = 6240;
  t.tRFC = 720;
  t.tRFCSB = 320;
  t.tRREFD = 13;
  return p;
}

/// 6.4 Gb/s per pin, 32 pins and BL8 per pseudo-channel: 25.6 GB/s.
DramPreset hbm3() {
  DramPreset p = hbm2();
  DramTiming& t = p.timing;
  t.tCK_ps = 625;
  t.tCL = 20;
  t.tCWL = 10;
  t.tRCDRD = 31;
  t.tRCDWR = 15;
  t.tRP = 26;
  t.tRAS = 45;
  t.tRC = 72;
  t.tCCDL = 4;
  t.tCCDR = 3;
  t.tRRDS = 4;
  t.tRRDL = 5;
  t.tFAW = 24;
  t.tWR = 33;
  t.tWTRS = 7;
  t.tWTRL = 10;
  t.tRTP = 9;
  t.tRTW = 20;
  t.tREFI = 6240;
  t.tRFC = 560;
  t.tRFCSB = 320;
  t.tRREFD = 13;
  return p;
}

const std::map<std::string, DramPreset>& presets() {
  static const std::map<std::string, DramPreset> all = {{"hbm2", hbm2()}, {"hbm2e", hbm2e()}, {"hbm3", hbm3()}};
  return all;
}

DramFault fault(const char* attribute, uint32_t found, const char* legal, uint64_t limit) {
  return {attribute, "found " + std::to_string(found) + "; legal: " + legal + " " + std::to_string(limit)};
}

}  // namespace

std::vector<std::string> dram_presets() {
  std::vector<std::string> names;
  for (const auto& [name, preset] : presets()) names.push_back(name);
  return names;
}

const DramPreset& dram_preset(const std::string& name) {
  const auto found = presets().find(name);
  if (found == presets().end())
    throw std::invalid_argument("preset: found '" + name + "', expected hbm2, hbm2e or hbm3");
  return found->second;
}

uint64_t row_cycles(const DramTiming& t) {
  const uint64_t read = uint64_t{t.tRCDRD} + t.tRTP, write = uint64_t{t.tRCDWR} + t.tCWL + t.tBURST + t.tWR;
  return t.tACT + std::max({uint64_t{t.tRC}, read, write}) + t.tRP;
}

std::optional<DramFault> fault_of(const DramTiming& t, const DramGeometry& g) {
  if (t.tCCDS < t.tBURST) return fault("tCCDS", t.tCCDS, "from tBURST", t.tBURST);
  if (t.tCCDL < t.tCCDS) return fault("tCCDL", t.tCCDL, "from tCCDS", t.tCCDS);
  if (t.tCCDR < t.tBURST) return fault("tCCDR", t.tCCDR, "from tBURST", t.tBURST);
  if (t.tRRDL < t.tRRDS) return fault("tRRDL", t.tRRDL, "from tRRDS", t.tRRDS);
  if (t.tWTRL < t.tWTRS) return fault("tWTRL", t.tWTRL, "from tWTRS", t.tWTRS);
  if (t.tRC < t.tRAS) return fault("tRC", t.tRC, "from tRAS", t.tRAS);
  // A write's data follow those of an earlier read.
  if (t.tRTW + t.tCWL < t.tCL + t.tBURST)
    return fault("tRTW", t.tRTW, "from tCL + tBURST - tCWL", t.tCL + t.tBURST - t.tCWL);
  // Between two refreshes a row can be opened, read or written, and closed.
  const uint64_t row = row_cycles(t);
  if (t.tREFI < t.tRFC + row)
    return fault("tREFI", t.tREFI, "from tRFC and a row's ACT, column and PRE to the next ACT,", t.tRFC + row);
  const uint64_t all_banks = uint64_t{g.banks_of_stack_id()} * (t.tRREFD + t.tRP);
  if (t.tREFI < all_banks || t.tREFI < t.tRFCSB + row)
    return fault("tREFI", t.tREFI, "time for a refresh of each bank by itself,", std::max(all_banks, t.tRFCSB + row));
  if (g.page_bytes < g.burst_bytes) return fault("page_bytes", g.page_bytes, "from burst_bytes", g.burst_bytes);
  return std::nullopt;
}

}  // namespace kernbench::memory
