// SPDX-License-Identifier: Apache-2.0
// What a sweep varies: one option of the command, and the values it takes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernbench::sweep {

using Words = std::vector<std::string>;

struct Axis {
  std::string name;  ///< "links"; "param.n" for --param n=…, "set.TARGET" for --set TARGET=…
  Words values;      ///< in turn; none where it is a range without steps
  std::optional<std::pair<double, double>> range;  ///< all numbers from .. to, for the methods that sample
};

/// An option as the command line wants it: "param.n", "64" gives --param n=64; a flag's value true gives the flag
/// alone, false nothing.
Words option_words(const std::string& name, const std::string& value);

/// "links=ideal,flit", as --over has it; a comma in braces or brackets is the value's. InputError.
Axis parse_axis(const std::string& text);

}  // namespace kernbench::sweep
