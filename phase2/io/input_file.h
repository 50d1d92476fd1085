// SPDX-License-Identifier: Apache-2.0
// Text files that a command reads.
#pragma once

#include <cstddef>
#include <fstream>
#include <istream>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// The file, opened. InputError with its name and the reason where that cannot be, and for a folder.
std::ifstream open_input(const std::string& file);

/// All that is left of it, or what is enough to see that it has more than `most` bytes. InputError, with the file's
/// name, where it cannot be read to its end.
std::string read_all(std::istream&, const std::string& file, size_t most = std::string::npos);

}  // namespace kernbench::phase2
