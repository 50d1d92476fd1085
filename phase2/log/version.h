// SPDX-License-Identifier: Apache-2.0
// The version of a program's sources.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// MAJOR.MINOR.PATCH+HASH. HASH covers all sources (cmake/SourceHash.cmake), so two builds of a changed tree have
/// different versions.
const char* version();

}  // namespace kernbench::phase2
