// SPDX-License-Identifier: Apache-2.0
// A swept option of the command, and its values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernbench::sweep {

using Words = std::vector<std::string>;

struct Axis {
  std::string name;  ///< "links"; "param.n" for --param n=…, "set.TARGET" for --set TARGET=…
  Words values;      ///< in order; none for a range without steps
  std::optional<std::pair<double, double>> range;  ///< all numbers from .. to, for sampling methods
};

/// An option as command-line words: "param.n", "64" gives --param n=64. A flag's value true gives the flag, false gives
/// nothing.
Words option_words(const std::string& name, const std::string& value);

/// Parses "links=ideal,flit" as in --over; commas in braces or brackets belong to the value. InputError.
Axis parse_axis(const std::string& text);

}  // namespace kernbench::sweep
