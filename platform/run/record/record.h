// RunRecord: what the function run() (platform/entry/run.h) gives back. It is the same whether this process has
// simulated or a copy of it.
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
  /// Exit status of the command line. 0: done; 1: failed, or an output, a race or a check is wrong; 2: bad input;
  /// 124: took too long; 128 + N: ended by signal N.
  int status = 0;
  std::vector<std::string> told;    ///< lines beside the report: warnings, what kernels print, advice
  std::vector<std::string> faults;  ///< why there is no report, as the command line prints it; empty: there is one
  std::vector<std::pair<std::string, FigureValue>> figures;  ///< those that a run or a model has
  std::vector<std::string> verdict;                          ///< what bounds it, if the spec asks
  std::string document;                                      ///< which run it was, as JSON (spec/run_document.h)
  double wall_s = 0;
  std::function<void(std::ostream&)> write;  ///< writes the report in the form of the spec's --format
  std::shared_ptr<const RunReport> found;    ///< of a run or model that this process has simulated; else null

  /// std::monostate where the run has no such figure.
  FigureValue figure(std::string_view name) const;
  /// A figure that is a number; 0 where the run has none.
  double number(std::string_view name) const;
  /// The report as text.
  std::string report() const;
  /// The first line that the command line prints on stderr; empty: none.
  std::string first_line() const;
};

/// InputError, Stopped or RunError where there is no report, with the lines that the command line prints.
void throw_faults(const RunRecord&);

/// {"status", "told", "figures", "verdict", "wall_s", "report"}: the report as JSON if `json`, else its text.
std::string json_of(const RunRecord&, bool json);

/// How a record goes from one process to another: one line of JSON, then the report if `with_report`; lines that are
/// told go by stderr.
std::string packed(const RunRecord&, bool with_report);
/// JsonFault for other text.
RunRecord unpacked(const std::string&);

/// Simulates each spec in a process of its own, `jobs` at a time (0: one a processor), and gives their records in
/// order.
using RunEach = std::function<void(const std::vector<spec::RunSpec>&, unsigned jobs,
                                   const std::function<void(size_t, const RunRecord&)>& done)>;

}  // namespace kernbench
