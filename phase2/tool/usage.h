// SPDX-License-Identifier: Apache-2.0
// Errors of command lines, and the files that options name. Used by all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/io/command_files.h"

namespace kernbench::cli {

/// One line: an unknown command, option or argument with the nearest legal one, or CLI11's message.
std::string usage_fault(const CLI::App&, const CLI::ParseError&);

/// Returns the files that a value refers to. Without it, the file is the value or the text after NAME=.
using FilesOf = std::function<std::vector<std::string>(const std::string& value)>;
/// Declares that the option's value names an input or an output. Every option with FILE in its form must declare one.
CLI::Option* reads_file(CLI::Option*, FilesOf = {});
CLI::Option* writes_file(CLI::Option*, FilesOf = {});
/// The files of the options given to this command and its subcommands. InputError as in CommandFiles.
void add_files(CommandFiles&, const CLI::App&);

/// Adds the checks of `parse` to options that are added during parsing: those of this command and of its subcommands.
void check_values(CLI::App&);

/// Parses the command line. Returns the exit status if nothing is left to do. An option without a value gives status 2:
/// its value is empty or is the next option. A flag takes no value, or true or false.
std::optional<int> parse(CLI::App&, int argc, const char* const* argv);

/// The names of its subcommands in order, except hidden ones.
std::vector<std::string> command_names(const CLI::App&);
/// The names of its options in the form that users type: --kernel, -v.
std::vector<std::string> option_names(const CLI::App&);

}  // namespace kernbench::cli
