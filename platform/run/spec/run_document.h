// The object `run` that every report begins with and every log's header holds: which run it was, with all that decides
// its results. `kernbench diff` compares two, `kernbench report` does one again, a store's key is made of the same.
//
//   {"schema": 1, "version": "0.1.0+…", "command": "kernbench run --topology small.yaml --kernel gemm",
//    "options": {"topology": "small.yaml", "links": "ideal", "set": [], "params": {"m": 64, …}, "seed": 1, …},
//    "topology": {"name": "small.yaml", "sha256": "…", "text": "…"}}
//
// `options` has every option that decides a result, resolved: what was not given stands there as what came of it, null
// where there is nothing. Of a file that an option names it has {"file", "sha256"}.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench {
class Fields;
}

namespace kernbench::spec {

/// Of reports, docs/run_report.schema.json: greater where a field changes its meaning or goes.
constexpr int kReportSchema = 1;

struct RunDocument {
  std::string version;                       ///< of kernbench; empty: nobody has said which run it is
  std::string command;                       ///< what repeats it, as a shell reads it
  RunSpec options;                           ///< resolved
  std::string topology, topology_text;       ///< its name, and what stands in the file
  std::string topology_energy;               ///< SHA-256 of the energy table that the file names; empty: none
  std::map<std::string, std::string> files;  ///< SHA-256 of those that deciding options name, but for the topology

  /// The command as it was given, and the checksums of its files; of --topology and --energy the files that they mean.
  /// InputError for a topology that cannot be read; of others that cannot there is no checksum. Where `topology_text`
  /// is given nothing is read for it.
  static RunDocument of(const RunSpec& given, std::string version, const std::string& topology_file,
                        const std::string& energy_file, const std::string& topology_text = "");
};

/// The energy table that a topology's file names, by the folder of the file; empty: none.
std::string energy_table_of(const std::string& topology_text, const std::string& topology_file);

/// With the topology's text, or without.
void describe(Fields&, const RunDocument&, bool with_topology);
std::string json_of(const RunDocument&, bool with_topology);
/// The field "run" of a report, on a line of its own; none where nobody has said which run it is.
void begin_report(Fields&, const RunDocument&);

/// A number or truth value as such, anything else as text.
using ParameterValue = std::variant<bool, int64_t, uint64_t, double, std::string>;
ParameterValue parameter_of(const std::string& text);

/// The options that such an object, as JSON, tells of; `topology_text` is set where it has one. JsonFault where it is
/// none, or of a kernbench with other options.
RunSpec options_of(std::string_view json, std::string* topology_text);

/// The key of an option in `options`: "params" of --param.
std::string key_of(const Option&);

/// Whether a value of --tensor beside --ttir names no file: uniform|zeros|arange:DTYPE[N,...].
bool is_made_tensor(const std::string& value);

/// SHA-256 of what stands in a file, or of names and contents of a folder's files. InputError.
std::string checksum_of_file(const std::string& name);

}  // namespace kernbench::spec
