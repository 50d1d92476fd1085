// What is wrong with a command line that cannot be understood: one place for all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kernbench::cli {

/// One line: an unknown command, option or argument with the nearest legal one; else what CLI11 says.
std::string usage_fault(const CLI::App&, const CLI::ParseError&);

/// Options of this program and its commands whose value names a file take no empty name, which would be as if they were
/// not given. To be called when all of them are there.
void refuse_empty_names(CLI::App&);

/// The names of its commands, in order, without the hidden ones.
std::vector<std::string> command_names(const CLI::App&);
/// The names of its options as they are typed: --kernel, -v.
std::vector<std::string> option_names(const CLI::App&);

}  // namespace kernbench::cli
