// SPDX-License-Identifier: Apache-2.0
// The figures of a run. Each has one name and is computed in one place, figures.cpp. `run --format json` (`figures`),
// sweeps (`--metric`), tuners and `diff` use them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernbench {

struct RunReport;

/// std::monostate: the run lacks it.
using FigureValue = std::variant<std::monostate, bool, int64_t, double, std::string>;

struct Figure {
  std::string_view name, meaning;
  FigureValue (*of)(const RunReport&);
  enum Trait : unsigned {
    kExplained = 1,  ///< only of runs with --explain
    /// A run on some PEs with proportionally less work ranks points like the full machine. Energy does not, because
    /// idle power is that of the full machine.
    kOfSomePes = 2,
    kNoNumber = 4  ///< a boolean or text, which is no objective
  };
  unsigned traits = 0;
  bool is(Trait t) const { return (traits & t) != 0; }
};
const std::vector<Figure>& figures();

}  // namespace kernbench
