// SPDX-License-Identifier: Apache-2.0
// What is said about the commands beside what they do: groups of --help, completion for shells, man pages. All of it is
// read off the parser, so nothing else lists commands or options.
#pragma once

#include <CLI/CLI.hpp>

#include "kernbench/phase2/tool/commands.h"

namespace kernbench::cli {

/// Puts the commands, and the options of each, into the groups in which --help and the man pages show them.
void group_for_help(CLI::App& program);

/// `completion bash|zsh`: a script for the shell, which asks `complete -- WORDS…`: what may stand in place of the last
/// of the words, a line each, with a tab and its help where it has one; nothing where a file's name may.
Command add_completion(CLI::App& program);
Command add_complete(CLI::App& program);

/// `man [COMMAND…]`: a man page on stdout; `man --into FOLDER`: all of them, as files.
Command add_man(CLI::App& program);

}  // namespace kernbench::cli
