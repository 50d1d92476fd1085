// SPDX-License-Identifier: Apache-2.0
// The file that a name leads to: one rule for locks, for doubles, and for what lies beside a file.
#pragma once

#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Absolute, without symbolic links, also of a file that is yet to be made and behind a link that leads nowhere. Two
/// names of one file have the same, but for hard links. Where its folder is not there, as far as it is; opening it says
/// so.
std::string real_name(const std::string& name);

}  // namespace kernbench::phase2
