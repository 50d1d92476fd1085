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

namespace kernbench {

class JsonWriter;

namespace energy {

/// So often did a component do this.
struct Action {
  std::string component;  ///< a node's id; FROM->TO; or "*.KIND", all of a kind
  std::string action;     ///< "bits", "read_bits", "macs_f16", "exp", "activates", "fs", …: docs/energy.md
  std::string constant;   ///< by which it counts; one that the account has not: it is not counted; empty: in another's
  uint64_t count = 0;
  int64_t nm = 0;  ///< of a wire; 0: none
};

/// Counts of a run and the constants that they are multiplied by. A value.
struct Account {
  std::string table;                 ///< name of the table of constants
  std::vector<Constant> constants;   ///< that are used, by name
  std::vector<Action> actions;       ///< in compiled order
  std::vector<Action> area;          ///< blocks and bits whose area is known, or is not
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

/// What a run came to, by the constants' values.
struct Headline {
  double joules = 0;
  double average_w = 0, peak_w = 0;
  double tflops_per_w = 0;
  double energy_delay_js = 0;
};
Headline headline(const Account&);

/// Sections of a report, text: lines that begin with two blanks.
void write_energy_text(std::ostream&, const Account&);
/// An object. Joules in full: sums of parts are equal to the last digit.
void write_energy_json(JsonWriter&, const Account&);
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
