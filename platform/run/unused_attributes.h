// SPDX-License-Identifier: Apache-2.0
// Attributes that a file gives and that do nothing in the link mode that runs.
#pragma once

#include <string>
#include <vector>

namespace kernbench {

class Platform;

/// One line each, which names the first block, how many there are, and why; in compiled order.
std::vector<std::string> unused_attributes(Platform&);

}  // namespace kernbench
