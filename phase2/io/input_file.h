// SPDX-License-Identifier: Apache-2.0
// Text files that a command reads.
#pragma once

#include <cstddef>
#include <fstream>
#include <istream>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Opens the file. InputError with its name and the reason if that fails or if it is a folder.
std::ifstream open_input(const std::string& file);

/// Reads the rest of the file. Stops when more than `most` bytes were read. InputError, with the file's name, if the
/// end cannot be read.
std::string read_all(std::istream&, const std::string& file, size_t most = std::string::npos);

}  // namespace kernbench::phase2
