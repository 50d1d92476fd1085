// SPDX-License-Identifier: Apache-2.0
// Versions for the log's header: of its form, and of what the arithmetic and the logs are made with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Of an op log's form, JSONL and SQLite alike; another one is refused (docs/stability.md).
constexpr int kOpLogVersion = 1;

/// Eigen (the bits of a float GEMM belong to it), oneTBB and SQLite, by name.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace kernbench::phase2
