// SPDX-License-Identifier: Apache-2.0
// Options that are numbers. A whole number has only decimal digits. -1, 010, 0x10, 1e3 and numbers that are too large
// are refused, so that none is taken for another number.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace kernbench::cli {

/// The option takes whole numbers from `least` to `most`.
CLI::Option* whole_number(CLI::Option*, uint64_t least = 0, uint64_t most = std::numeric_limits<uint64_t>::max());

/// The option takes numbers above 0, up to `most`.
CLI::Option* positive_number(CLI::Option*, double most);
/// Also takes percent: 10% is 0.1.
CLI::Option* number_or_percent(CLI::Option*, double most);

}  // namespace kernbench::cli
