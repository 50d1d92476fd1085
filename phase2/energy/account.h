// SPDX-License-Identifier: Apache-2.0
// The activity of a run and its energy: counts multiplied by constants and added up. It comes from a run or from its op
// log.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/energy/constant.h"
#include "kernbench/phase2/energy/rontojoules.h"
#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

class Fields;
class JsonWriter;

}  // namespace kernbench::phase2
namespace kernbench {
namespace energy {

/// How often a component performed an action, or how much of a resource exists.
struct Action {
  std::string component;  ///< a node's id; FROM->TO; or "*.KIND" for all of a kind
  std::string action;     ///< "bits", "read_bits", "macs_f16", "exp", "activates", "fs", …: docs/energy.md
  std::string constant;   ///< name of the constant; not counted if the account lacks it; empty: another action's
                          ///< constant includes it
  uint64_t count = 0;
  int64_t nm = 0;  ///< for a wire: its length; for W/mm2: the area in 1e-3 mm2; 0: none
};

/// A set of equal dies that are cut from wafers.
struct Die {
  std::string name;  ///< of the first one, "sip0.cube0"; empty: the complete flat system
  uint64_t count = 0;
  Band area;  ///< of one die, 1e-9 µm²
  Band edge;  ///< edge length that its PHYs occupy, 1e-9 mm; 0: unknown
};
inline double mm(Rontojoules edge) {
  return static_cast<double>(edge) / 1e9;
}

/// Limits of a machine; 0: no limit.
struct Bounds {
  double tdp_w = 0;         ///< per package
  double die_mm2 = 0;       ///< the reticle limit
  double shoreline_mm = 0;  ///< edge length of a die for PHYs; 0: the perimeter of a square of its area
};

/// Counts of a run and the constants for them. A value type.
struct Account {
  std::string table;                       ///< name of the table of constants
  std::vector<Constant> constants;         ///< used ones, by name
  std::vector<Action> actions;             ///< in compiled order
  std::vector<Action> area;                ///< all built blocks, with or without a known area
  std::vector<Die> dies;                   ///< the same, by die; empty if no area is known
  uint64_t packages = 0;                   ///< SIPs
  uint64_t hbm_bytes = 0, hbm_stacks = 0;  ///< installed memory
  Bounds bounds;
  std::vector<std::string> unknown;  ///< things that the table does not cover, beside actions without a constant
  uint64_t fs = 0;                   ///< duration of the run
  double flops = 0;
  double utilization = 0;  ///< fraction of the GEMM peak, 0 to 1; 0: unknown
  uint64_t window_fs = 0;  ///< windows from the start of the run whose mean power is measured; `peak` belongs to the
                           ///< highest
  Rontojoules peak = 0;    ///< energy of that window, at nominal constants

  /// Null if there is no constant of that name.
  const Constant* find(const std::string& constant) const;
};

/// The energy of one action; 0 without a constant. RunError beyond 1.7e11 J.
Band energy_of(const Account&, const Action&);
Band energy_of(const Constant&, uint64_t count, int64_t nm);
/// In 1e-9 µm².
Band area_of(const Account&, const Action&);

/// Area of a die outside its blocks, whose total is `blocks`, by the constant area.rest; null: none.
Band rest_of(const Constant* rest, const Band& blocks);

/// "mac" of "mac.f16": the class that reports sum over.
std::string_view class_of(std::string_view constant);

struct Summary {
  struct Row {
    std::string name;
    uint64_t count = 0;  ///< number of actions; 0 for classes
    Band energy;
  };
  Band total;
  std::vector<Row> by_class, by_constant;  ///< largest first, equal ones by name
  Band by_quality[4];                      ///< indexed by Quality
  std::vector<Row> not_counted;            ///< actions without a constant, by its name
  Band area;                               ///< 1e-9 µm²
  std::vector<Row> by_area;                ///< by constant; Row::energy is an area
  std::vector<std::string> no_area;        ///< kinds of blocks without a known area
};
Summary summarize(const Account&);

/// A value at the low, nominal and high ends of the constants.
struct Ratio {
  double low = 0, value = 0, high = 0;
};

/// Manufacturing cost of the machine in USD: good dies, packages, memory. Absent without the constants `cost.*`.
struct Cost {
  Ratio dies, package, hbm;
  Ratio total() const {
    return {dies.low + package.low + hbm.low, dies.value + package.value + hbm.value,
            dies.high + package.high + hbm.high};
  }
};
std::optional<Cost> cost_of(const Account&);

/// Edge length of a die that is available for PHYs, mm.
double shoreline_mm(const Account&, const Die&);
/// Sentences about limits that the machine or its run exceeds.
std::vector<std::string> out_of_bounds(const Account&);

/// Main results of a run, at nominal constants.
struct Headline {
  double joules = 0;
  double average_w = 0, peak_w = 0;
  double static_w = 0;  ///< power without any activity
  double tflops_per_w = 0;
  double energy_delay_js = 0;
  std::optional<double> area_mm2, die_mm2, tflops_per_mm2, cost;  ///< if the table has the constants
  std::optional<double> shoreline_pct;  ///< for the die whose PHYs use the largest share of its edge; if the table has
                                        ///< the constants
};
Headline headline(const Account&);

/// Text sections of a report; lines are indented by two blanks.
void write_energy_text(std::ostream&, const Account&);
/// Joules with all digits, so that sums of parts are exact.
void describe(Fields&, const Account&);
/// component,action,count: one line per action.
std::string activity_csv(const Account&);

// For op logs:
/// An object without `actions`, and the actions as a list of [component, action, constant, count, nm].
void write_account(JsonWriter&, const Account&);
void write_actions(JsonWriter&, const std::vector<Action>&);
/// The inverse. std::runtime_error with the fault.
Account parse_account(std::string_view json);
std::vector<Action> parse_actions(std::string_view json);

}  // namespace energy
}  // namespace kernbench
