// SPDX-License-Identifier: Apache-2.0
// Subcommands of a command line, and those of Phase 2. `kernbench` and `kernbench-replay` both have `replay`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <utility>

#include "kernbench/phase2/io/command_files.h"

namespace kernbench::cli {

/// Runs a subcommand; returns the exit status. Errors are thrown (InputError, RunError, TopologyError).
using Action = std::function<int()>;

struct Command {
  CLI::App* app = nullptr;
  Action run;
  /// Adds the files that the options do not name directly (usage.h). Called before `run` and before any file is opened.
  std::function<void(CommandFiles&)> files = {};
  /// Adds the options when the command line names the command, so that a start costs only the options of one command.
  std::function<void()> options = {};
  bool reads_program = false;  ///< `run` reads the options of all commands
};

Command add_replay(CLI::App&);

}  // namespace kernbench::cli
