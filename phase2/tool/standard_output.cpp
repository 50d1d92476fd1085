// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/tool/standard_output.h"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>

#include "kernbench/phase2/tool/faults.h"

namespace kernbench::cli {

int close_stdout(int status) {
  errno = 0;
  std::cout.flush();
  if (std::cout) return status;
  tell("stdout: cannot be written" + (errno ? std::string(": ") + std::strerror(errno) : ""));
  return status == 0 ? 1 : status;
}

}  // namespace kernbench::cli
