// SPDX-License-Identifier: Apache-2.0
// `kernbench diff`: two runs side by side, each from its report in JSON (of `run`, best with --explain, or of another
// command that simulates) or its op log.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench::phase2 {
class Fields;
}

namespace kernbench::study {

/// What is known of a run from its file. ns.
struct RunFile {
  std::string name;
  std::string command = "run";  ///< or traffic, pipeline, probe, collectives
  bool log = false;
  bool partial = false;  ///< of a log: the run has not finished, or its end is missing
  double sim_ns = 0;  ///< of a log: the end of its last op, which the host's last completion follows; 0: no end is told
  std::map<std::string, std::string> configuration;  ///< "params.n": "64"; of a file "n7.yaml, sha256 …"
  /// The topology's text: of its document, or of the file where that is still the same; else empty.
  std::string topology_text;
  std::map<std::string, double> blame_ns;      ///< by resource; of a report with --explain
  std::map<std::string, double> busy_ns;       ///< by engine; of a report
  std::map<std::string, double> shares;        ///< by link and memory, of its bandwidth; of a report with --explain
  std::map<std::string, std::string> figures;  ///< of a report (record/figures.h); of a table the numbers of its rows
  /// Of a log, in order of start. A message's segments have its key, and come in their order.
  struct Op {
    uint32_t pe = 0;
    uint64_t seq = 0;
    std::string name, line;
    double start_ns = 0, end_ns = 0;
  };
  std::vector<Op> ops;
  std::vector<std::string> pes;  ///< what an op's PE indexes
  /// Takes a log's header, then its records. JsonFault for a configuration that is no JSON.
  void begin(const OpLogHeader&);
  void add(const OpRecord&);
};

/// InputError for a file that is neither, with its name and place; where `partial` is false, for a log of a run that
/// has not finished.
RunFile read_run_file(const std::string& file, bool partial = false);
/// A run's JSON. InputError.
RunFile read_run_json(const std::string& text, const std::string& name);

struct RunDiff {
  struct Setting {
    std::string key, a, b;  ///< empty: it is not there
  };
  struct Change {
    std::string name;
    double a_ns = 0, b_ns = 0;
    double by() const { return b_ns - a_ns; }
  };
  struct OpChange {
    std::string pe, name, line;
    uint64_t seq = 0;
    std::optional<std::pair<double, double>> a_ns, b_ns;  ///< start, end; none: the run lacks it
  };
  std::string a, b;
  bool a_partial = false, b_partial = false;
  std::vector<Setting> configuration;  ///< what differs, by key
  std::vector<Setting> figures;        ///< what differs, by name
  double a_ns = 0, b_ns = 0;           ///< sim_ns
  std::vector<Change> blame, engines;  ///< what differs, the largest change first
  bool has_blame = false;              ///< both runs say
  size_t ops = 0, ops_that_differ = 0;
  std::optional<OpChange> first;  ///< by its start in a (b where a lacks it)
  std::vector<OpChange> longest;  ///< whose own time changed most, at most 10
  /// b's time over a's, less 1.
  double slower() const { return a_ns > 0 ? b_ns / a_ns - 1 : 0; }
};

/// InputError where one is a log and the other a report, and for reports of two commands.
RunDiff diff_runs(const RunFile& a, const RunFile& b);

void write_diff_text(std::ostream&, const RunDiff&);
void describe(Fields&, const RunDiff&);
void describe(Fields&, const RunDiff::Setting&);
/// A table below an empty line, of what text() makes of the values.
void write_settings(std::ostream&, const char* title, const std::vector<RunDiff::Setting>&,
                    std::string (*text)(const std::string&));
std::string cut_or_dash(const std::string&);
void write_diff_json(std::ostream&, const RunDiff&);

}  // namespace kernbench::study
