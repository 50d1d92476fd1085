// The subcommands of `kernbench`. Each adds itself to the parser and gives what to do if it was asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/tool/commands.h"
#include "kernbench/platform/cli/signals.h"
#include "kernbench/platform/elaborate/plugins.h"
#include "kernbench/platform/observe/time_window.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/topology/build/compiler.h"

namespace kernbench {
class Platform;
class TransactionRecorder;
class Waveform;
namespace energy {
class Meter;
}
}  // namespace kernbench

namespace kernbench::cli {

Command add_collectives(CLI::App&);
Command add_list(CLI::App&);
Command add_model(CLI::App&);
Command add_pipeline(CLI::App&);
Command add_probe(CLI::App&);
Command add_report(CLI::App&);
Command add_run(CLI::App&);
Command add_serve(CLI::App&);
Command add_sweep(CLI::App&);
Command add_topology(CLI::App&);
Command add_traffic(CLI::App&);
Command add_tune(CLI::App&);
Command add_web(CLI::App&);
Command add_whatif(CLI::App&);
Command add_diff(CLI::App&);

/// --plugin, as every command has it that knows kernels or components.
struct PluginOptions {
  std::vector<std::string> files;
  void add_to(CLI::App&);
  /// Loads them, each once. InputError.
  std::vector<Plugin> load() const;
};

/// --topology, --links, --response, --set and --plugin, as several commands have them.
struct TopologyOptions {
  std::string file;
  PluginOptions plugins;
  std::string links, response;
  std::vector<std::string> settings, scales;
  std::string yaml;  ///< the file's text where that is known already, of a log; else empty
  TopologyOptions() = default;
  explicit TopologyOptions(const spec::RunSpec&);
  void add_to(CLI::App&, bool positional = false);
  /// The text of the file.
  std::string text() const;
  /// Loads the plug-ins and compiles the file.
  topology::Graph compile() const;
  /// And builds the system. It is never taken apart: the process is about to end, and that would take as long again.
  Platform& build() const;
};

/// --max-time and --max-wall.
struct LimitOptions {
  double max_time_ns = 0, max_wall_s = 0;  ///< 0: none
  explicit LimitOptions(const spec::RunSpec&);
  /// The wall time begins.
  void begin() const;
  /// From here on signals and limits end that timeline's simulation.
  std::unique_ptr<StopsOnSignals> watch(Timeline&) const;
};

/// --RECORDING-from and --RECORDING-to. InputError where the recording is not asked for.
TimeWindow window_of(const spec::RunSpec&, const std::string& recording);

/// --vcd, --vcd-scope, --vcd-from and --vcd-to.
struct WaveformCliOptions {
  std::string file;
  std::vector<std::string> scopes;
  TimeWindow window;
  explicit WaveformCliOptions(const spec::RunSpec&);
  /// All that it writes; none where no waveform was asked for.
  std::vector<std::string> files() const;
  /// Null where no waveform was asked for. InputError as Waveform's.
  std::unique_ptr<Waveform> attach(Platform&, energy::Meter* = nullptr) const;
};

/// --ftr, --ftr-from and --ftr-to.
struct RecordingOptions {
  std::string file;
  TimeWindow window;
  explicit RecordingOptions(const spec::RunSpec&);
  /// Null where no recording was asked for. InputError as TransactionRecorder's.
  std::unique_ptr<TransactionRecorder> attach(Platform&) const;
};

/// The memory file beside a run's op log; empty: there is none.
std::string memory_file(const spec::RunSpec&);
/// InputError where two outputs are asked for in one file.
void check_output_files(const spec::RunSpec&);

/// Whether the report is JSON. InputError for what only such a report tells, beside another form, and for options that
/// others must stand beside.
bool wants_json(const spec::RunSpec&);

/// What it was made of, for who knows no SystemC.
const topology::Graph& graph_of(const Platform&);
/// Which run it was, of another command than `run`: links and responses as the platform has them.
spec::RunDocument document_of(const spec::RunSpec&, const Platform&);

/// --format with its legal values; the first is the default.
void add_format(CLI::App&, std::string& format, std::vector<std::string> legal);

}  // namespace kernbench::cli
