// SPDX-License-Identifier: Apache-2.0
// Amounts of energy and of area as integers. Sums are exact in any order. Therefore parts add up to their total to the
// last digit, and a replay gives the same result as the run.
#pragma once

#include <cstdint>
#include <string>

namespace kernbench::energy {

/// In units of 1e-27 J. Constants are integers of 1e-9 of their unit, lengths of nm, times of fs. Any product of these
/// is therefore an integer here, up to 1.7e11 J.
__extension__ using Rontojoules = __int128;

constexpr double kJoulesEach = 1e-27;

/// a · b; RunError on overflow.
Rontojoules product(Rontojoules a, Rontojoules b);
/// a + b; RunError on overflow.
Rontojoules sum(Rontojoules a, Rontojoules b);

/// All digits of an amount in units of 10^-digits: "0.00000123" (nonnegative).
std::string exact_text(Rontojoules amount, int digits = 27);
/// The inverse for digits = 0: a nonnegative integer. std::runtime_error for any other text.
Rontojoules parse_whole(const std::string& text);

/// For an area in 1e-9 um2.
inline double mm2(Rontojoules area) {
  return static_cast<double>(area) / 1e15;
}
inline double joules(Rontojoules r) {
  return static_cast<double>(r) * kJoulesEach;
}

/// A value at the low ends, nominal values and high ends of its constants.
struct Band {
  Rontojoules low = 0, value = 0, high = 0;
  Band& operator+=(const Band& o);
  Rontojoules width() const { return high - low; }
};

}  // namespace kernbench::energy
