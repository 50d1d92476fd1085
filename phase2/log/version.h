// What a program is built of.
#pragma once

namespace kernbench {

/// MAJOR.MINOR.PATCH+HASH, HASH of all sources (cmake/SourceHash.cmake): two builds of a tree that is being worked on
/// have different names.
const char* version();

}  // namespace kernbench
