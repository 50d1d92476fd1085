// --ttir and what goes with it, of `kernbench run`.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace kernbench {
struct RunReport;
namespace triton {
class Launch;
}
}  // namespace kernbench

namespace kernbench::cli {

struct RunCommand;

struct TritonOptions {
  std::string file, function, grid, order = "round_robin";
  uint64_t interleave = 4096;
  std::vector<std::string> places;
  void add_to(CLI::App&);
  bool asked() const { return !file.empty(); }
  /// Registers the kernel, and makes the command one that runs it. InputError.
  std::shared_ptr<triton::Launch> make_kernel(RunCommand*) const;
  /// InputError where one of them stands without --ttir.
  void check_unasked() const;
};

/// When its programs ran, into the report.
void add_programs(const triton::Launch&, RunReport*);

}  // namespace kernbench::cli
