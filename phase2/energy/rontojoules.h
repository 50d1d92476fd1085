// SPDX-License-Identifier: Apache-2.0
// Amounts of energy, and of area, as whole numbers: sums are exact in any order, so parts add up to their total to the
// last digit, and a replay gives what the run gave.
#pragma once

#include <cstdint>
#include <string>

namespace kernbench::energy {

/// 1e-27 J each. A constant is a whole number of 1e-9 of its unit, a length of nm, a time of fs; so any product of
/// these is one of these, up to 1.7e11 J.
__extension__ using Rontojoules = __int128;

constexpr double kJoulesEach = 1e-27;

/// a · b; RunError where that is more than the type holds.
Rontojoules product(Rontojoules a, Rontojoules b);
/// a + b; likewise.
Rontojoules sum(Rontojoules a, Rontojoules b);

/// Of an amount in units of 10^-digits: all its digits, "0.00000123" (0 and above).
std::string exact_text(Rontojoules amount, int digits = 27);
/// The inverse for digits = 0: a whole number from 0 on. std::runtime_error where it is none.
Rontojoules parse_whole(const std::string& text);

/// Of an area in 1e-9 um2.
inline double mm2(Rontojoules area) {
  return static_cast<double>(area) / 1e15;
}
inline double joules(Rontojoules r) {
  return static_cast<double>(r) * kJoulesEach;
}

/// What something is at its constants' low ends, by their values, and at their high ends.
struct Band {
  Rontojoules low = 0, value = 0, high = 0;
  Band& operator+=(const Band& o);
  Rontojoules width() const { return high - low; }
};

}  // namespace kernbench::energy
