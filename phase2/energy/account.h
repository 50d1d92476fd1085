// SPDX-License-Identifier: Apache-2.0
// What a run did, action by action, and what that came to: counts times constants, added up. Of a run, or of its op
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

/// So often did a component do this, or so much of it is there.
struct Action {
  std::string component;  ///< a node's id; FROM->TO; or "*.KIND", all of a kind
  std::string action;     ///< "bits", "read_bits", "macs_f16", "exp", "activates", "fs", …: docs/energy.md
  std::string constant;   ///< by which it counts; one that the account has not: it is not counted; empty: in another's
  uint64_t count = 0;
  int64_t nm = 0;  ///< of a wire; of W/mm2 its area in 1e-3 mm2; 0: none
};

/// Dies that are alike: one that a wafer is cut into.
struct Die {
  std::string name;  ///< of the first, "sip0.cube0"; empty: all of a flat system
  uint64_t count = 0;
  Band area;  ///< of one, 1e-9 µm²
  Band edge;  ///< that its PHYs take, 1e-9 mm; 0: not known
};
inline double mm(Rontojoules edge) {
  return static_cast<double>(edge) / 1e9;
}

/// What a machine must keep; 0: nothing is said.
struct Bounds {
  double tdp_w = 0;         ///< of a package
  double die_mm2 = 0;       ///< that a reticle has room for
  double shoreline_mm = 0;  ///< of a die's edge, for PHYs; 0: all around a square of its area
};

/// Counts of a run and the constants that they are multiplied by. A value.
struct Account {
  std::string table;                       ///< name of the table of constants
  std::vector<Constant> constants;         ///< that are used, by name
  std::vector<Action> actions;             ///< in compiled order
  std::vector<Action> area;                ///< what is built whose area is known, or is not
  std::vector<Die> dies;                   ///< the same, die by die; of none no area is known
  uint64_t packages = 0;                   ///< SIPs
  uint64_t hbm_bytes = 0, hbm_stacks = 0;  ///< that are built
  Bounds bounds;
  std::vector<std::string> unknown;  ///< what the table says nothing of, beside actions without a constant
  uint64_t fs = 0;                   ///< the run's time
  double flops = 0;
  double utilization = 0;  ///< share of the GEMM peak, 0 to 1; 0: not known
  uint64_t window_fs = 0;  ///< mean powers of such windows from the run's begin on: `peak` is of the greatest
  Rontojoules peak = 0;    ///< energy of that window, by the constants' values

  /// Null where it has none of that name.
  const Constant* find(const std::string& constant) const;
};

/// Of one action; 0 where there is no constant. RunError beyond 1.7e11 J.
Band energy_of(const Account&, const Action&);
Band energy_of(const Constant&, uint64_t count, int64_t nm);
/// In 1e-9 µm².
Band area_of(const Account&, const Action&);

/// What a die has beside its blocks, of which all is `blocks`, by the constant area.rest; null: nothing.
Band rest_of(const Constant* rest, const Band& blocks);

/// "mac" of "mac.f16": what reports add up by.
std::string_view class_of(std::string_view constant);

/// The sums of an account.
struct Summary {
  struct Row {
    std::string name;
    uint64_t count = 0;  ///< of its actions; 0 for classes
    Band energy;
  };
  Band total;
  std::vector<Row> by_class, by_constant;  ///< the most first, equal ones by name
  Band by_quality[4];                      ///< by Quality
  std::vector<Row> not_counted;            ///< actions without a constant, by its name
  Band area;                               ///< 1e-9 µm²
  std::vector<Row> by_area;                ///< by constant; Row::energy is an area
  std::vector<std::string> no_area;        ///< kinds of blocks
};
Summary summarize(const Account&);

/// At constants' low ends, by their values, at their high ends.
struct Ratio {
  double low = 0, value = 0, high = 0;
};

/// What the machine costs to make, USD: good dies, what holds them, memory. Nothing without the constants `cost.*`.
struct Cost {
  Ratio dies, package, hbm;
  Ratio total() const {
    return {dies.low + package.low + hbm.low, dies.value + package.value + hbm.value,
            dies.high + package.high + hbm.high};
  }
};
std::optional<Cost> cost_of(const Account&);

/// What there is of a die's edge for PHYs, mm.
double shoreline_mm(const Account&, const Die&);
/// Sentences: which bounds the machine or its run does not keep.
std::vector<std::string> out_of_bounds(const Account&);

/// What a run came to, by the constants' values.
struct Headline {
  double joules = 0;
  double average_w = 0, peak_w = 0;
  double static_w = 0;  ///< what is drawn without any work
  double tflops_per_w = 0;
  double energy_delay_js = 0;
  std::optional<double> area_mm2, die_mm2, tflops_per_mm2, cost;  ///< where the table has constants of them
  std::optional<double> shoreline_pct;  ///< of the die whose PHYs take most of its edge; likewise
};
Headline headline(const Account&);

/// Sections of a report, text: lines that begin with two blanks.
void write_energy_text(std::ostream&, const Account&);
/// Joules in full: sums of parts are equal to the last digit.
void describe(Fields&, const Account&);
/// component,action,count: a line for each action.
std::string activity_csv(const Account&);

// In an op log.
/// An object of all but `actions`, and those as a list of [component, action, constant, count, nm].
void write_account(JsonWriter&, const Account&);
void write_actions(JsonWriter&, const std::vector<Action>&);
/// The inverse. std::runtime_error with what is wrong.
Account parse_account(std::string_view json);
std::vector<Action> parse_actions(std::string_view json);

}  // namespace energy
}  // namespace kernbench
