// SPDX-License-Identifier: Apache-2.0
// The constants of an `energy:` section (docs/energy.md), checked: what is counted is multiplied by these.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/energy/constant.h"

namespace kernbench::energy {

/// An SRAM of a known size: what it takes to read and to write a bit.
struct SramPoint {
  uint64_t bytes = 0;
  Constant read, write;
};

class EnergyTable {
 public:
  std::string name;                           ///< of the table, for reports
  std::map<std::string, Constant> constants;  ///< by name, without those of SRAMs
  std::vector<SramPoint> srams;               ///< by size, the least first; each size once
  Bounds bounds;

  /// Null where the table has none of that name.
  const Constant* find(const std::string& constant) const;
  /// By value; 0 where it has none.
  double number(const std::string& constant) const;
  /// Every op without a constant of its own gets its row's cycles times the constant of its energy class, where the
  /// table has that: math.OP of math.simple or math.multiply.
  void add_ops_by_class();
  /// Whether it says what of a die's edge every kind of PHY takes.
  bool knows_shoreline() const;
  /// Of a TCM or SRAM of that size, named "sram.read.16MB": a point's own, or between two points along the straight
  /// line in the square root of the size (a word line, and the way to a bank, are as long as the array is wide). Below
  /// the least point that one's; above the greatest along the line of the last two. Null where there are no points.
  const Constant* sram(uint64_t bytes, bool write);

 private:
  std::map<std::string, Constant> sram_by_name_;
};

/// "sram.read.16MB".
std::string sram_constant_name(uint64_t bytes, bool write);

}  // namespace kernbench::energy
