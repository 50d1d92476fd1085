// SPDX-License-Identifier: Apache-2.0
// Versions in the log's header: of the format, and of the libraries that compute values and write logs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Format version of an op log, for JSONL and SQLite. Any other version is refused (docs/stability.md).
constexpr int kOpLogVersion = 1;

/// Names and versions of Eigen (which determines the bits of a float GEMM), oneTBB and SQLite.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace kernbench::phase2
