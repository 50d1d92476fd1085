// SPDX-License-Identifier: Apache-2.0
// What to say when nothing can move while work is outstanding.
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::elaborate {

class Machine;

/// Who waits for whom, one line for each PE that has work left (at most `limit` of them); empty if nothing is left.
std::vector<std::string> stuck_report(Machine&, size_t limit = 20);
/// The same as a fault.
RunError stuck_error(const std::vector<std::string>& report);

}  // namespace kernbench::elaborate
