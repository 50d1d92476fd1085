// SPDX-License-Identifier: Apache-2.0
// The figures of a run: each has one name and one place where it is computed, figures.cpp. From there `run --format
// json` (`figures`), sweeps (`--metric`), tuners and `diff` take it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernbench {

struct RunReport;

/// std::monostate: the run has none.
using FigureValue = std::variant<std::monostate, bool, int64_t, double, std::string>;

struct Figure {
  std::string_view name, meaning;
  FigureValue (*of)(const RunReport&);
  enum Trait : unsigned {
    kExplained = 1,  ///< of runs with --explain
    /// Some of the PEs with as much less to do put points in the order in which the whole machine does: energy does
    /// not, as power without work is the whole machine's.
    kOfSomePes = 2,
    kNoNumber = 4  ///< a truth or a text, by which nothing is better
  };
  unsigned traits = 0;
  bool is(Trait t) const { return (traits & t) != 0; }
};
const std::vector<Figure>& figures();

}  // namespace kernbench
