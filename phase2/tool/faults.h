// SPDX-License-Identifier: Apache-2.0
// Error messages of a command on stderr, and its exit status. Both programs use it.
#pragma once

#include <functional>
#include <string>

namespace kernbench::cli {

/// Writes a line on stderr. Quotations of files and arguments are escaped, so that they cannot break the line or send
/// control characters to the terminal.
void tell(const std::string& line);

/// Writes kOutOfMemory after the program's name, without allocating memory.
void say_out_of_memory(const char* program);

/// Runs the command. Exceptions become lines on stderr and an exit status: InputError 2, Stopped 128 + the signal, all
/// others 1. A message that is not about an input begins with `program`.
int run_command(const std::string& program, const std::function<int()>& command);

}  // namespace kernbench::cli
