#include "kernbench/phase2/tool/standard_output.h"

#include <cerrno>
#include <cstring>
#include <iostream>

namespace kernbench::cli {

int close_stdout(int status) {
  errno = 0;
  std::cout.flush();
  if (std::cout) return status;
  std::cerr << "stdout: cannot be written" << (errno ? std::string(": ") + std::strerror(errno) : "") << "\n";
  return status == 0 ? 1 : status;
}

}  // namespace kernbench::cli
