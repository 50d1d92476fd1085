// What to say when nothing can move while work is outstanding.
#pragma once

#include <string>
#include <vector>

namespace kernbench {

class Machine;

/// Who waits for whom, one line for each PE that has work left (at most `limit` of them); empty if nothing is left.
std::vector<std::string> stuck_report(Machine&, size_t limit = 20);

}  // namespace kernbench
