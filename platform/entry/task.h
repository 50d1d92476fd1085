// SPDX-License-Identifier: Apache-2.0
// What a command does on a platform. Only for the files of this folder.
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

/// A line beside the report: to hooks.tell, else into the record.
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
  /// What can be wrong before the platform is there, with the plug-ins loaded.
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

/// A program of a command's own, made for the platform that it runs on.
class OwnProgram {
 public:
  virtual ~OwnProgram() = default;
  /// Null where the machine has no room for it: then that is what is written, of a report that is empty but for the
  /// document, and the exit status is 1.
  virtual const ProgramSpec* make(Platform&, RunOptions*) = 0;
  /// Before the run is explained; `meter`: null without energy.
  virtual void measure(ProgramReport&, const energy::Meter* /*meter*/) const {}
  /// Adds to the report what it finds in it by itself.
  virtual void finish(ProgramReport&) = 0;
  virtual void write(std::ostream&, const ProgramReport&, bool json) const = 0;
  /// Valid after the run: options that follow from it and might make it faster, together one change.
  virtual std::vector<std::pair<std::string, std::string>> better() const { return {}; }
};
/// Of a decoder or an ONNX graph (docs/models.md, docs/onnx.md). InputError.
std::shared_ptr<OwnProgram> make_model_program(const spec::RunSpec&, Told&);
std::shared_ptr<OwnProgram> make_onnx_program(const spec::RunSpec&);

/// The decoder of the options, and how they spread it. InputError, also for an ONNX graph.
struct ModelOfSpec {
  models::ModelSpec model;
  models::Plan plan;
};
ModelOfSpec model_of(const spec::RunSpec&, Told&);

// Outputs that several commands have.

/// --RECORDING-from and --RECORDING-to. InputError where the recording is not asked for.
TimeWindow window_of(const spec::RunSpec&, const std::string& recording);
/// --vcd, --vcd-scope, --vcd-from and --vcd-to. Null where no waveform was asked for. InputError as Waveform's.
std::unique_ptr<Waveform> waveform_of(const spec::RunSpec&, Platform&, energy::Meter* = nullptr);
/// --ftr, --ftr-from and --ftr-to. Null where no recording was asked for. InputError as TransactionRecorder's.
std::unique_ptr<TransactionRecorder> recorder_of(const spec::RunSpec&, Platform&);
/// The memory file beside a run's op log; empty: there is none.
std::string memory_file(const spec::RunSpec&);
/// The external data of an ONNX graph; none of another file.
std::set<std::string> external_files(const std::string& model);
/// Whether the report is JSON. InputError for what only such a report tells, beside another form, and for options that
/// others must stand beside.
bool wants_json(const spec::RunSpec&);
/// Warns of the windows of recordings that begin behind the end: the recordings are empty.
void tell_empty_windows(const spec::RunSpec&, Platform&, Told&);
/// Which run it was, of another command than `run`: links and responses as the platform has them.
spec::RunDocument document_of(const spec::RunSpec&, const Platform&);

}  // namespace kernbench
