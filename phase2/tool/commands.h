// Subcommands of a command line, and those of Phase 2: `kernbench` and `kernbench-replay` have `replay` alike.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>

#include "kernbench/phase2/eval/isa.h"

namespace kernbench::cli {

/// Runs a subcommand; returns the exit status. Errors are thrown (InputError, RunError, TopologyError).
using Action = std::function<int()>;

struct Command {
  CLI::App* app = nullptr;
  Action run;
};

Command add_replay(CLI::App&);

/// The path of that name; InputError where there is none or this machine lacks it.
Isa isa_of(const std::string& name);
/// The memory file beside an op log: its name with .kbmem in place of the extension.
std::string memory_file_of(const std::string& oplog);

}  // namespace kernbench::cli
