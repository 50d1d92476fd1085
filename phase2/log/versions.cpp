#include "kernbench/phase2/log/versions.h"

#include <fmt/format.h>

#include <sqlite3.h>
#include <tbb/version.h>

#include <Eigen/Core>

namespace kernbench {

std::vector<std::pair<std::string, std::string>> library_versions() {
  const auto dotted = [](int a, int b, int c) { return fmt::format("{}.{}.{}", a, b, c); };
  return {{"eigen", dotted(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
          {"tbb", TBB_runtime_version()},
          {"sqlite", sqlite3_libversion()}};
}

}  // namespace kernbench
