// SPDX-License-Identifier: Apache-2.0
// What the page asks for when it starts a run, and what a run's folder keeps of it: JSON of one flat form.
//
//   {"kernel": "gemm", "topology": "small.yaml", "params": {"m": "64"}, "options": {"links": "flit", "verify": true},
//    "set": ["*.pe_gemm.freq_ghz=2"], "scale": ["hbm=2"]}
//   {"model": "config.json", "topology": "small.yaml", "options": {"phase": ["prefill:64",
//   "decode:batch=2,context=64"]}}
//   {"kernel": "gemm", "topology": "small.yaml", "energy": "n7.yaml", "over": ["param.m=64,128"], "metrics": ["sim_ns",
//   "energy_j"]}
//
// ("program" instead of "kernel"; with "over" it is a sweep.) Only its form is checked here; what the words mean is
// `kernbench run`'s to judge, or `kernbench model`'s.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench::web {

struct RunRequest {
  std::string kind;  ///< of what is run: kernel, program or model
  std::string name;  ///< its; a model's is that of its file
  std::string topology;
  std::map<std::string, std::string> params;
  std::map<std::string, std::vector<std::string>> options;  ///< of the command; a flag has no value
  std::vector<std::string> set, scale;
  std::string energy;                      ///< the name of a table that comes with the program; empty: the system's own
  std::vector<std::string> over, metrics;  ///< of a sweep: OPTION=V,V,…, and its columns, none: its own choice

  bool is_sweep() const { return !over.empty(); }
  bool is_model() const { return kind == "model"; }
  const char* command() const { return is_model() ? "model" : "run"; }
  /// Behind `kernbench`, one word each; with a file for its report also what makes it, and has it print JSON.
  std::vector<std::string> arguments(const std::string& report = "") const;
  /// Whether it is the same work on the same machine, however timed: its time tells how long the other may take.
  bool same_work(const RunRequest& other) const {
    return kind == other.kind && name == other.name && topology == other.topology && params == other.params &&
           over == other.over && (!is_model() || options == other.options);
  }
  std::string json() const;
};

/// What a page may set of `run` or `model` among a request's options: what decides a result and names no file, but for
/// what has a field of its own.
std::vector<const spec::Option*> page_options(std::string_view command);

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
/// sim_ns and verdict of what `--format json --explain` has printed, of a sweep how many points there are and which is
/// the best; nothing of what is no such text.
void take_results(const RunRequest&, std::string_view report, RunEnd& into);

/// Whether a name may be that of a file in the folder: letters, digits, . _ -, no point in front, at most 120.
bool is_plain_name(std::string_view);

}  // namespace kernbench::web
