// SPDX-License-Identifier: Apache-2.0
// Resolves a name to the real file. One rule for locks, for duplicates and for files beside another file.
#pragma once

#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Absolute and without symbolic links, also for a file that does not exist yet and for a link without a target. All
/// names of one file give the same result, except for hard links. If the folder is missing, the existing part is
/// resolved; opening the file reports the error.
std::string real_name(const std::string& name);

}  // namespace kernbench::phase2
