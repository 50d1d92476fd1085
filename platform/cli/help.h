// SPDX-License-Identifier: Apache-2.0
// Help about the commands: groups of --help, shell completion, man pages. All of it is derived from the parser, so
// commands and options are listed only there.
#pragma once

#include <CLI/CLI.hpp>

#include "kernbench/phase2/tool/commands.h"

namespace kernbench::cli {

/// Puts the commands, and the options of each, into groups for --help and the man pages.
void group_for_help(CLI::App& program);

/// `completion bash|zsh`: a script for the shell. It calls `complete -- WORDS…`, which prints the candidates for the
/// last word, one per line, with a tab and the help if there is one. It prints nothing if a file name is possible.
Command add_completion(CLI::App& program);
Command add_complete(CLI::App& program);

/// `man [COMMAND…]`: a man page on stdout; `man --into FOLDER`: all of them, as files.
Command add_man(CLI::App& program);

}  // namespace kernbench::cli
