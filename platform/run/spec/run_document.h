// SPDX-License-Identifier: Apache-2.0
// The object `run` at the start of each report and in each log's header: the configuration that determines a run's
// results. `kernbench diff` compares two of them, `kernbench report` repeats one, and keys of stores derive from it.
//
//   {"schema": 2, "version": "0.1.0+…", "command": "kernbench run --topology small.yaml --kernel gemm",
//    "options": {"topology": "small.yaml", "links": "ideal", "set": [], "params": {"m": 64, …}, "seed": 1, …},
//    "topology": {"name": "small.yaml", "sha256": "…", "text": "…"}}
//
// `options` has each option that affects results, with resolved values: for an absent option the effective value, or
// null. For a file it has {"file", "sha256"}.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "kernbench/phase2/rooms.h"
#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench::phase2 {
class Fields;
}

namespace kernbench::spec {

/// Version of reports, docs/run_report.schema.json; raised when a field changes its meaning or is removed.
constexpr int kReportSchema = 2;

struct RunDocument {
  std::string version;                       ///< of kernbench; empty: the configuration is unknown
  std::string command;                       ///< command that repeats the run, quoted for a shell
  RunSpec options;                           ///< resolved
  std::string topology, topology_text;       ///< name, and contents of the file
  std::string topology_energy;               ///< SHA-256 of the energy table in the topology file; empty: none
  std::map<std::string, std::string> files;  ///< SHA-256 of the other files in result-affecting options

  /// The command as given, and the checksums of its files; for --topology and --energy of the resolved files.
  /// InputError for an unreadable topology; other unreadable files get no checksum. If `topology_text` is given, the
  /// topology file is not read.
  static RunDocument of(const RunSpec& given, std::string version, const std::string& topology_file,
                        const std::string& energy_file, const std::string& topology_text = "");
};

/// The energy table that a topology file names, relative to the file's folder; empty: none.
std::string energy_table_of(const std::string& topology_text, const std::string& topology_file);

/// With or without the topology's text.
void describe(Fields&, const RunDocument&, bool with_topology);
std::string json_of(const RunDocument&, bool with_topology);
/// The field "run" of a report, on its own line; omitted if the configuration is unknown.
void begin_report(Fields&, const RunDocument&);

/// A number or truth value as such; text otherwise.
using ParameterValue = std::variant<bool, int64_t, uint64_t, double, std::string>;
ParameterValue parameter_of(const std::string& text);

/// The options in such a JSON object; sets `topology_text` if the object has it. JsonFault for other JSON, or for
/// options of another kernbench.
RunSpec options_of(std::string_view json, std::string* topology_text);

/// The key of an option in `options`: "params" of --param.
std::string key_of(const Option&);

/// Whether a value of --tensor beside --ttir names no file: uniform|zeros|arange:DTYPE[N,...].
bool is_made_tensor(const std::string& value);

/// SHA-256 of a file's contents, or of the names and contents of a folder's files. InputError.
std::string checksum_of_file(const std::string& name);

}  // namespace kernbench::spec
