// SPDX-License-Identifier: Apache-2.0
// Parts of `kernbench sweep` for shards on many machines: --emit, and `sweep progress`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "kernbench/phase2/tool/commands.h"
#include "kernbench/platform/study/sweep/sweep.h"

namespace kernbench::cli {

/// --emit and --tasks.
struct EmitOptions {
  std::string engine;  ///< empty: the sweep runs here
  uint64_t tasks = 32;
  void add_to(CLI::App&);
};

/// Writes the script to stdout. `words`: the sweep's command line. InputError.
void emit_sweep(const CLI::App& words, const EmitOptions&, const sweep::SweepOptions&, const sweep::SweepHooks&);

/// The function for `sweep progress`; its exit status is 0 if all points of all shards have ended.
Command add_progress(CLI::App& sweep);

}  // namespace kernbench::cli
