// A command line done by a process that has started already.
#pragma once

#include <string>
#include <vector>

namespace kernbench::cli {

/// `words` of run or probe behind "kernbench", in a copy of the process that has built no system yet; its exit status.
int do_again(const std::vector<std::string>& words);

}  // namespace kernbench::cli
