// SPDX-License-Identifier: Apache-2.0
// What a command says on stderr, and its exit status: one place for both programs.
#pragma once

#include <functional>
#include <string>

namespace kernbench::cli {

/// A line on stderr. What it quotes of files and arguments cannot break it or reach the terminal as a control
/// character.
void tell(const std::string& line);

/// kOutOfMemory behind the program's name, without taking memory for it.
void say_out_of_memory(const char* program);

/// Does the command; what it throws becomes lines on stderr and an exit status: InputError 2, Stopped 128 + the signal,
/// anything else 1. `program` stands in front of what is not about an input.
int run_command(const std::string& program, const std::function<int()>& command);

}  // namespace kernbench::cli
