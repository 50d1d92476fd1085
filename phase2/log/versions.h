// Versions of what the arithmetic and the logs are made with, for the log's header.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kernbench {

/// Eigen (the bits of a float GEMM belong to it), oneTBB and SQLite, by name.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace kernbench
