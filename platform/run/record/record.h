// SPDX-License-Identifier: Apache-2.0
// RunRecord: the result of the function run() (platform/entry/run.h). It is the same for a simulation in this process
// and in a forked copy.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/platform/run/record/figures.h"
#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench {

struct RunRecord {
  /// Exit status of the command line. 0: success; 1: failed, or an output, a race or a check is wrong; 2: bad input;
  /// 124: timeout; 128 + N: ended by signal N.
  int status = 0;
  std::vector<std::string> told;    ///< lines beside the report: warnings, prints of kernels, advice
  std::vector<std::string> faults;  ///< errors, as the command line prints them, if there is no report
  std::vector<std::pair<std::string, FigureValue>> figures;  ///< figures of a run or a model
  std::vector<std::string> verdict;                          ///< what bounds the run, if requested
  std::string document;  ///< configuration of the run, as JSON (spec/run_document.h)
  double wall_s = 0;
  std::function<void(std::ostream&)> write;  ///< writes the report in the spec's --format
  std::shared_ptr<const RunReport> found;    ///< of a run or model simulated in this process; else null

  /// std::monostate if the run has no such figure.
  FigureValue figure(std::string_view name) const;
  /// A numeric figure; 0 if the run has none.
  double number(std::string_view name) const;
  /// The report as text.
  std::string report() const;
  /// The first line on stderr of the command line; empty: none.
  std::string first_line() const;
};

/// InputError, Stopped or RunError, with the lines of the command line, if there is no report.
void throw_faults(const RunRecord&);

/// {"status", "told", "figures", "verdict", "wall_s", "report"}: the report is JSON if `json`, else text.
std::string json_of(const RunRecord&, bool json);

/// Serialization of a record between processes: one line of JSON, then the report if `with_report`. Lines beside the
/// report go to stderr.
std::string packed(const RunRecord&, bool with_report);
/// JsonFault for other text.
RunRecord unpacked(const std::string&);

/// Simulates each spec in its own process, `jobs` at a time (0: one for each processor), and returns the records in
/// order.
using RunEach = std::function<void(const std::vector<spec::RunSpec>&, unsigned jobs,
                                   const std::function<void(size_t, const RunRecord&)>& done)>;

}  // namespace kernbench
