// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/log/versions.h"

#include <sqlite3.h>
#include <tbb/version.h>

#include "kernbench/phase2/eval/arithmetic.h"

namespace kernbench::phase2 {

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"eigen", arithmetic_of(Isa::portable).eigen_version},
          {"tbb", TBB_runtime_version()},
          {"sqlite", sqlite3_libversion()}};
}

}  // namespace kernbench::phase2
