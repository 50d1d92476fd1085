// SPDX-License-Identifier: Apache-2.0
// Reads Triton's IR: .ttir files of Triton's cache (3.1 to 3.7), and MLIR's generic form of these operations.
#pragma once

#include <memory>
#include <string>

#include "kernbench/platform/triton/ir.h"

namespace kernbench::triton {

/// The module in a text; messages name `file`. A syntax error, mismatched types or an undefined value is an InputError
/// of one line. Unknown operations and types are no error: the module lists them, and values that depend on them are
/// not checked.
std::shared_ptr<const Module> read_module(const std::string& file, const std::string& text);
/// The same for a file; InputError if it cannot be read.
std::shared_ptr<const Module> read_module_file(const std::string& file);

/// The module as text, one operation per line, for tests.
std::string to_string(const Module&);

}  // namespace kernbench::triton
