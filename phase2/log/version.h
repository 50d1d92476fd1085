// SPDX-License-Identifier: Apache-2.0
// What a program is built of.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// MAJOR.MINOR.PATCH+HASH, HASH of all sources (cmake/SourceHash.cmake): two builds of a tree that is being worked on
/// have different names.
const char* version();

}  // namespace kernbench::phase2
