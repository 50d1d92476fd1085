// Text files that a command reads.
#pragma once

#include <fstream>
#include <istream>
#include <string>

namespace kernbench {

/// The file, opened. InputError with its name and the reason where that cannot be, and for a folder.
std::ifstream open_input(const std::string& file);

/// All that is left of it. InputError, with the file's name, where it cannot be read to its end.
std::string read_all(std::istream&, const std::string& file);

}  // namespace kernbench
