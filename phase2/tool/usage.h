// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line that cannot be understood, and which files it names: one place for all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/io/command_files.h"

namespace kernbench::cli {

/// One line: an unknown command, option or argument with the nearest legal one; else what CLI11 says.
std::string usage_fault(const CLI::App&, const CLI::ParseError&);

/// The files that a value leads to. Without it the file is the value, or what stands behind its NAME=.
using FilesOf = std::function<std::vector<std::string>(const std::string& value)>;
/// Declares that the option's value names an input or an output. Every option whose form has FILE declares one.
CLI::Option* reads_file(CLI::Option*, FilesOf = {});
CLI::Option* writes_file(CLI::Option*, FilesOf = {});
/// The files of the options that were given to this command and to its commands. InputError as CommandFiles'.
void add_files(CommandFiles&, const CLI::App&);

/// Adds the checks of `parse` to options that are added while it runs: those of this command and of its commands.
void check_values(CLI::App&);

/// Parses the command line; the exit status where nothing is left to do. An option without its value is status 2: the
/// value is empty or is the next option. A flag takes no value, or true or false.
std::optional<int> parse(CLI::App&, int argc, const char* const* argv);

/// The names of its commands, in order, without the hidden ones.
std::vector<std::string> command_names(const CLI::App&);
/// The names of its options as they are typed: --kernel, -v.
std::vector<std::string> option_names(const CLI::App&);

}  // namespace kernbench::cli
