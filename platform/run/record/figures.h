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
    kNoNumber = 4,  ///< a boolean or text, which is no objective
    kShare = 8      ///< a fraction of 1; text and pages show it in percent
  };
  unsigned traits = 0;
  bool is(Trait t) const { return (traits & t) != 0; }
};
const std::vector<Figure>& figures();

/// For text and pages: "mfu %" for a share; the name of any other column or figure.
std::string title_of(std::string_view name);
/// For text and pages: a share in percent; any other value as it is.
FigureValue shown(std::string_view name, const FigureValue&);

}  // namespace kernbench
