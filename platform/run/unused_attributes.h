// SPDX-License-Identifier: Apache-2.0
// Finds attributes in a file that have no effect in the present link mode.
#pragma once

#include <string>
#include <vector>

namespace kernbench {

class Platform;

/// One line each, with the first block, the number of blocks, and the reason; in compiled order.
std::vector<std::string> unused_attributes(Platform&);

}  // namespace kernbench
