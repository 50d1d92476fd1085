// SPDX-License-Identifier: Apache-2.0
// The checked constants of an `energy:` section (docs/energy.md). Counts are multiplied by these.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/energy/constant.h"

namespace kernbench::energy {

/// Energy of reading and writing one bit of an SRAM of a known size.
struct SramPoint {
  uint64_t bytes = 0;
  Constant read, write;
};

class EnergyTable {
 public:
  std::string name;                           ///< name of the table, for reports
  std::map<std::string, Constant> constants;  ///< by name, except those of SRAMs
  std::vector<SramPoint> srams;               ///< by size, smallest first; each size once
  Bounds bounds;

  /// Null if the table has no constant of that name.
  const Constant* find(const std::string& constant) const;
  /// The nominal value; 0 if there is none.
  double number(const std::string& constant) const;
  /// Adds a constant math.OP for every op without one: the op's cycles times the constant of its energy class
  /// (math.simple or math.multiply), if the table has that.
  void add_ops_by_class();
  /// Whether it has the edge length of every kind of PHY.
  bool knows_shoreline() const;
  /// The constant of a TCM or SRAM of that size, named "sram.read.16MB". Between two points it is linear in the square
  /// root of the size, because word lines and paths to banks are as long as the array is wide. Below the smallest
  /// point, that point's value is used. Above the largest, the line of the last two continues. Null if there are no
  /// points.
  const Constant* sram(uint64_t bytes, bool write);

 private:
  std::map<std::string, Constant> sram_by_name_;
};

/// "sram.read.16MB".
std::string sram_constant_name(uint64_t bytes, bool write);

}  // namespace kernbench::energy
