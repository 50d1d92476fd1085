// What the page asks for when it starts a run, and what a run's folder keeps of it: JSON of one flat form.
//
//   {"kernel": "gemm", "topology": "small.yaml", "params": {"m": "64"}, "options": {"links": "flit", "verify": true},
//    "set": ["*.pe_gemm.freq_ghz=2"], "scale": ["hbm=2"]}
//
// ("program" instead of "kernel".) Only its form is checked here; what the words mean is `kernbench run`'s to judge.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/spec/run_spec.h"

namespace kernbench::web {

struct RunRequest {
  std::string kernel, program;  ///< one of them
  std::string topology;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> options;  ///< of `kernbench run`; a flag's value is empty
  std::vector<std::string> set, scale;

  const std::string& name() const { return kernel.empty() ? program : kernel; }
  /// Behind `kernbench`, one word each.
  std::vector<std::string> arguments() const;
  /// Whether it is the same work on the same machine, however timed: its time tells how long the other may take.
  bool same_work(const RunRequest& other) const {
    return kernel == other.kernel && program == other.program && topology == other.topology && params == other.params;
  }
  std::string json() const;
};

/// What a page may set by itself: options that decide a result and name no file, each once; but for what is run.
std::vector<const spec::Option*> page_options();

/// InputError, one line that names the field.
RunRequest parse_run_request(std::string_view json);

/// How a run ended, as its folder keeps it.
struct RunEnd {
  int status = 0;  ///< exit status
  double wall_s = 0;
  std::optional<double> sim_ns;      ///< none: it came to no result
  std::vector<std::string> verdict;  ///< sentences
  std::string json() const;
};

/// InputError.
RunEnd parse_run_end(std::string_view json);
/// sim_ns and verdict of what `kernbench run --format json --explain` has printed; nothing of what is no such text.
void take_results(std::string_view report, RunEnd& into);

/// Whether a name may be that of a file in the folder: letters, digits, . _ -, no point in front, at most 120.
bool is_plain_name(std::string_view);

}  // namespace kernbench::web
