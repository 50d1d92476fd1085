// SPDX-License-Identifier: Apache-2.0
// Messages for runs in which nothing can move while work is outstanding.
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::elaborate {

class Machine;

/// The waits of PEs with outstanding work, one line per PE (at most `limit`); empty if there is none.
std::vector<std::string> stuck_report(Machine&, size_t limit = 20);
/// The same as an error.
RunError stuck_error(const std::vector<std::string>& report);

}  // namespace kernbench::elaborate
