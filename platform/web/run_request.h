// SPDX-License-Identifier: Apache-2.0
// The page's request for a run, as stored in the run's folder: flat JSON.
//
//   {"kernel": "gemm", "topology": "small.yaml", "params": {"m": "64"}, "options": {"links": "flit", "verify": true},
//    "set": ["*.pe_gemm.freq_ghz=2"], "scale": ["hbm=2"]}
//   {"model": "config.json", "topology": "small.yaml",
//    "options": {"phase": ["prefill:64", "decode:batch=2,context=64"]}}
//   {"kernel": "gemm", "topology": "small.yaml", "energy": "n7.yaml", "over": ["param.m=64,128"],
//    "metrics": ["sim_ns", "energy_j"]}
//
// ("program" instead of "kernel"; with "over" it is a sweep.) Only the form is checked here; `kernbench run` or
// `kernbench model` checks the values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench::web {

struct RunRequest {
  std::string kind;  ///< kind of work: kernel, program or model
  std::string name;  ///< its name; a model's is its file's
  std::string topology;
  std::map<std::string, std::string> params;
  std::map<std::string, std::vector<std::string>> options;  ///< of the command; a flag has no value
  std::vector<std::string> set, scale;
  std::string energy;                      ///< name of a shipped energy table; empty: the topology's own
  std::vector<std::string> over, metrics;  ///< of a sweep: OPTION=V,V,…, and its columns; none: the default

  bool is_sweep() const { return !over.empty(); }
  bool is_model() const { return kind == "model"; }
  const char* command() const { return is_model() ? "model" : "run"; }
  /// The words after `kernbench`. With a file for the report they also include the options that create it, and JSON
  /// output.
  std::vector<std::string> arguments(const std::string& report = "") const;
  /// Whether it is the same work on the same machine, with any timing options. Its time then predicts the other's.
  bool same_work(const RunRequest& other) const {
    return kind == other.kind && name == other.name && topology == other.topology && params == other.params &&
           over == other.over && (!is_model() || options == other.options);
  }
  std::string json() const;
};

/// The options of `run` or `model` that a page may set: those that affect results and name no file, except for those
/// with their own field.
std::vector<const spec::Option*> page_options(std::string_view command);

/// InputError, one line with the field.
RunRequest parse_run_request(std::string_view json);

/// The end of a run, as stored in its folder.
struct RunEnd {
  int status = 0;  ///< exit status
  double wall_s = 0;
  std::optional<double> sim_ns;      ///< none: no result
  std::vector<std::string> verdict;  ///< sentences
  std::string json() const;
};

/// InputError.
RunEnd parse_run_end(std::string_view json);
/// sim_ns and verdict from the output of `--format json --explain`; for a sweep the number of points and the best one.
/// Empty for other texts.
void take_results(const RunRequest&, std::string_view report, RunEnd& into);

/// Whether a name is legal for a file in the folder: letters, digits, . _ -, no leading dot, at most 120 characters.
bool is_plain_name(std::string_view);

}  // namespace kernbench::web
