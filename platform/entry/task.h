// SPDX-License-Identifier: Apache-2.0
// A command's work on a platform. Only for the files of this folder.
#pragma once

#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/entry/run.h"
#include "kernbench/platform/models/phase.h"
#include "kernbench/platform/observe/time_window.h"
#include "kernbench/platform/run/spec/run_document.h"

namespace kernbench::observe {
class TransactionRecorder;
class Waveform;
}  // namespace kernbench::observe

namespace kernbench {

struct ProgramReport;
struct ProgramSpec;
struct RunOptions;
namespace energy {
class Meter;
}

/// Prints a line beside the report: to hooks.tell, else into the record.
class Told {
 public:
  explicit Told(const RunHooks& hooks) : hooks_(hooks) {}
  void operator()(const std::string& line) { hooks_.tell ? hooks_.tell(line) : lines_.push_back(line); }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const RunHooks& hooks_;
  std::vector<std::string> lines_;
};

class Task {
 public:
  virtual ~Task() = default;
  /// Checks that need no platform; plug-ins are loaded.
  virtual void check() const {}
  virtual RunRecord run(Platform&) = 0;
};

// Each takes the spec's options and reads its files. InputError. The spec and the hooks must outlive the task.
std::unique_ptr<Task> run_task(const spec::RunSpec&, const RunHooks&);      ///< `run` and `model`
std::unique_ptr<Task> service_task(const spec::RunSpec&, const RunHooks&);  ///< `model` with requests
std::unique_ptr<Task> traffic_task(const spec::RunSpec&, const RunHooks&);
std::unique_ptr<Task> pipeline_task(const spec::RunSpec&, const RunHooks&);
std::unique_ptr<Task> probe_task(const spec::RunSpec&, const RunHooks&);
std::unique_ptr<Task> collectives_task(const spec::RunSpec&, const RunHooks&);

/// A program that a command creates for its platform.
class OwnProgram {
 public:
  virtual ~OwnProgram() = default;
  /// Null if the machine has too little room for it. Then a report with only the document is written, and the exit
  /// status is 1.
  virtual const ProgramSpec* make(Platform&, RunOptions*) = 0;
  /// Called before the run is explained; `meter` is null without energy.
  virtual void measure(ProgramReport&, const energy::Meter* /*meter*/) const {}
  /// Adds its own results to the report.
  virtual void finish(ProgramReport&) = 0;
  virtual void write(std::ostream&, const ProgramReport&, bool json) const = 0;
  /// Valid after the run: options that follow from it and might make it faster, together one change.
  virtual std::vector<std::pair<std::string, std::string>> better() const { return {}; }
};
/// For a decoder or an ONNX graph (docs/models.md, docs/onnx.md). InputError.
std::shared_ptr<OwnProgram> make_model_program(const spec::RunSpec&, Told&);
std::shared_ptr<OwnProgram> make_onnx_program(const spec::RunSpec&);

/// The decoder of the options, and its parallelism. InputError, also for an ONNX graph.
struct ModelOfSpec {
  models::ModelSpec model;
  models::Plan plan;
};
ModelOfSpec model_of(const spec::RunSpec&, Told&);

// Outputs of several commands.

/// --RECORDING-from and --RECORDING-to. InputError if the recording is not requested.
TimeWindow window_of(const spec::RunSpec&, const std::string& recording);
/// --vcd, --vcd-scope, --vcd-from and --vcd-to. Null without --vcd. InputError as in Waveform.
std::unique_ptr<Waveform> waveform_of(const spec::RunSpec&, Platform&, energy::Meter* = nullptr);
/// --ftr, --ftr-from and --ftr-to. Null without --ftr. InputError as in TransactionRecorder.
std::unique_ptr<TransactionRecorder> recorder_of(const spec::RunSpec&, Platform&);
/// The memory file beside a run's op log; empty: none.
std::string memory_file(const spec::RunSpec&);
/// The external data of an ONNX graph; empty for other files.
std::set<std::string> external_files(const std::string& model);
/// Whether the report is JSON. InputError for options that require a JSON report or another option that is missing.
bool wants_json(const spec::RunSpec&);
/// Warns of recording windows that begin after the end, because these recordings are empty.
void tell_empty_windows(const spec::RunSpec&, Platform&, Told&);
/// The run's document, for commands other than `run`; links and responses as on the platform.
spec::RunDocument document_of(const spec::RunSpec&, const Platform&);

}  // namespace kernbench
