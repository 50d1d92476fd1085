// SPDX-License-Identifier: Apache-2.0
// Reads Triton's IR: the .ttir files of Triton's cache (3.1 to 3.7), and MLIR's generic form of the same operations.
#pragma once

#include <memory>
#include <string>

#include "kernbench/platform/triton/ir.h"

namespace kernbench::triton {

/// The module in a text; `file` is what faults name. InputError, one line, where the text is no such IR: syntax, types
/// that do not go together, values that are not there. Operations and types that are not known are no fault: the module
/// lists them, and what depends on them is not checked.
std::shared_ptr<const Module> read_module(const std::string& file, const std::string& text);
/// The same of a file. InputError where it cannot be read.
std::shared_ptr<const Module> read_module_file(const std::string& file);

/// What was understood, in one line an operation: for tests.
std::string to_string(const Module&);

}  // namespace kernbench::triton
