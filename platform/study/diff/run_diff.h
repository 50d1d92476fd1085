// SPDX-License-Identifier: Apache-2.0
// `kernbench diff`: compares two runs. Each is given by its JSON report (of `run`, best with --explain, or of another
// command that simulates) or by its op log.
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

/// A run's contents as read from its file. Times in ns.
struct RunFile {
  std::string name;
  std::string command = "run";  ///< or traffic, pipeline, probe, collectives
  bool log = false;
  bool partial = false;  ///< of a log: the run did not finish, or the log's end is missing
  double sim_ns = 0;     ///< of a log: end of the last op, which precedes the host's completion; 0: no end recorded
  std::map<std::string, std::string> configuration;  ///< "params.n": "64"; for a file "n7.yaml, sha256 …"
  /// The topology's text: from the run's document, or from its file if that is unchanged; else empty.
  std::string topology_text;
  std::map<std::string, double> blame_ns;      ///< by resource; from a report with --explain
  std::map<std::string, double> busy_ns;       ///< by engine; from a report
  std::map<std::string, double> shares;        ///< by link and memory, of its bandwidth; from a report with --explain
  std::map<std::string, std::string> figures;  ///< of a report (record/figures.h), or the numbers of a table's rows
  /// Ops of a log, by start. Segments of a message have its key and are in order.
  struct Op {
    uint32_t pe = 0;
    uint64_t seq = 0;
    std::string name, line;
    double start_ns = 0, end_ns = 0;
  };
  std::vector<Op> ops;
  std::vector<std::string> pes;  ///< ids by PE index of ops
  /// Reads a log's header and then its records. JsonFault if a configuration is no JSON.
  void begin(const OpLogHeader&);
  void add(const OpRecord&);
};

/// InputError, with file and line, for a file that is neither; if not `partial`, also for a log of an unfinished run.
RunFile read_run_file(const std::string& file, bool partial = false);
/// A run's JSON. InputError.
RunFile read_run_json(const std::string& text, const std::string& name);

struct RunDiff {
  struct Setting {
    std::string key, a, b;  ///< empty: absent
  };
  struct Change {
    std::string name;
    double a_ns = 0, b_ns = 0;
    double by() const { return b_ns - a_ns; }
  };
  struct OpChange {
    std::string pe, name, line;
    uint64_t seq = 0;
    std::optional<std::pair<double, double>> a_ns, b_ns;  ///< start, end; none: absent from the run
  };
  std::string a, b;
  bool a_partial = false, b_partial = false;
  std::vector<Setting> configuration;  ///< differences by key
  std::vector<Setting> figures;        ///< differences by name
  double a_ns = 0, b_ns = 0;           ///< sim_ns
  std::vector<Change> blame, engines;  ///< differences, the largest change first
  bool has_blame = false;              ///< both runs have it
  size_t ops = 0, ops_that_differ = 0;
  std::optional<OpChange> first;  ///< by its start in a (in b if a lacks it)
  std::vector<OpChange> longest;  ///< ops whose duration changed most, at most 10
  /// Time of b divided by that of a, minus 1.
  double slower() const { return a_ns > 0 ? b_ns / a_ns - 1 : 0; }
};

/// InputError for a log and a report, or for reports of different commands.
RunDiff diff_runs(const RunFile& a, const RunFile& b);

void write_diff_text(std::ostream&, const RunDiff&);
void describe(Fields&, const RunDiff&);
void describe(Fields&, const RunDiff::Setting&);
/// A table after an empty line.
void write_settings(std::ostream&, const char* title, const std::vector<RunDiff::Setting>&);
/// The figures for text and pages: with shares in percent.
std::vector<RunDiff::Setting> figures_in_text(const RunDiff&);
void write_diff_json(std::ostream&, const RunDiff&);

}  // namespace kernbench::study
