// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/entry/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <systemc>

#include "kernbench/kernel_api/params.h"
#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/entry/child_run.h"
#include "kernbench/platform/entry/signals.h"
#include "kernbench/platform/entry/system.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench {
namespace {

std::unique_ptr<Task> task_of(const spec::RunSpec& spec, const RunHooks& hooks) {
  const std::string_view command = spec.table().command;
  return command == "traffic"                                                        ? traffic_task(spec, hooks)
         : command == "pipeline"                                                     ? pipeline_task(spec, hooks)
         : command == "probe"                                                        ? probe_task(spec, hooks)
         : command == "collectives"                                                  ? collectives_task(spec, hooks)
         : command == "model" && (spec.given("requests") || spec.given("synthetic")) ? service_task(spec, hooks)
                                                                                     : run_task(spec, hooks);
}

/// Converts all kinds of input errors to one.
template <class Work>
auto with_input_errors(const Work& work) {
  try {
    return work();
  } catch (const topology::TopologyError& e) {
    std::vector<std::string> faults;
    for (const topology::Fault& f : e.faults()) faults.push_back(f.to_string());
    throw InputError(std::move(faults));
  } catch (const BadParam& e) {
    throw InputError(e.what());
  } catch (const NpyError& e) {
    throw InputError(e.what());
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  }
}

constexpr const char* kProgram = "kernbench: ";  // prefix of messages that concern no input
constexpr int kNoMemory = 3;                     // exit status of a forked process

/// An exception as the record of a run without a report.
RunRecord failed(const std::function<RunRecord()>& work) {
  RunRecord r;
  const auto fails = [&](int status, std::vector<std::string> lines, bool of_program) {
    r.status = status;
    r.faults = std::move(lines);
    if (of_program) r.faults.front().insert(0, kProgram);
  };
  try {
    return work();
  } catch (const InputError& e) {
    fails(2, e.faults(), false);
  } catch (const Stopped& e) {
    fails(e.status(), e.lines(), true);
  } catch (const RunError& e) {
    fails(1, e.lines(), true);
  } catch (const OutOfMemory& e) {
    fails(1, {e.what()}, true);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    fails(1, {e.what()}, true);
  }
  return r;
}

/// SystemC would print the library's warnings on stdout.
void warn_on_stderr(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  const bool warning = report.get_severity() == sc_core::SC_WARNING;
  if (warning) std::cerr << std::string("kernbench: warning: ") + escaped(report.get_msg()) + "\n";
  sc_core::sc_report_handler::default_handler(report, warning ? actions & ~sc_core::SC_DISPLAY : actions);
}

/// The fork of a process with its own modules, a finished simulation or another resolution cannot simulate these.
void begin_simulation() {
  const bool untouched =
      sc_core::sc_get_status() == sc_core::SC_ELABORATION && sc_core::sc_get_top_level_objects().empty();
  if (untouched && sc_core::sc_get_time_resolution().to_seconds() == 1e-15) return;
  sc_core::sc_curr_simcontext = nullptr;
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
}

/// The process's stdout carries only the record, so kernels' output is discarded.
class RecordOutput {
 public:
  RecordOutput() : fd_(dup(STDOUT_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd_ < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) _exit(1);
  }
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::write(fd_, text.data(), text.size());
      if (n <= 0) _exit(1);
      text.remove_prefix(static_cast<size_t>(n));
    }
  }

 private:
  int fd_;
};

}  // namespace

RunRecord run(const spec::RunSpec& spec, Platform& platform, const RunHooks& hooks) {
  return with_input_errors([&] {
    require_no_process();
    spec.check();
    if (spec.given("max-wall")) throw InputError("--max-wall: found with a platform of the caller");
    CommandFiles files;
    add_files(files, spec);
    const std::unique_ptr<Task> task = task_of(spec, hooks);
    SystemOptions(spec).load_plugins();
    task->check();
    if (spec.table().find("max-time") && spec.given("max-time")) platform.timeline().limit(*spec.number("max-time"));
    return task->run(platform);
  });
}

RunRecord run_here(const spec::RunSpec& spec, const RunHooks& hooks) {
  return with_input_errors([&] {
    spec.check();
    CommandFiles files;
    add_files(files, spec);
    // Neither is destroyed: the report may need both.
    Task& task = *task_of(spec, hooks).release();
    if (const auto seconds = spec.number("max-wall")) limit_wall_time(*seconds);
    SystemOptions system(spec);
    system.yaml = hooks.topology_text;
    system.load_plugins();
    task.check();
    Platform& platform = system.build();
    if (spec.table().find("max-time") && spec.given("max-time")) platform.timeline().limit(*spec.number("max-time"));
    const StopsOnSignals stops(platform.timeline());
    return task.run(platform);
  });
}

int simulate_in_copy(const std::function<spec::RunSpec()>& spec, bool with_report) {
  const RecordOutput out;
  try {
    install_signal_handlers();
    logging::keep_stderr_to_warnings();
    sc_core::sc_report_handler::set_handler(&warn_on_stderr);
    RunHooks hooks;
    hooks.tell = [](const std::string& line) { std::cerr << escaped(line) + "\n"; };
    hooks.shared_threads = !with_report;
    std::optional<spec::RunSpec> asked;
    const RunRecord record = failed([&] {
      begin_simulation();
      asked = spec();
      RunRecord found = run_here(*asked, hooks);
      if (const std::string left = thread_left_by_a_kernel ? thread_left_by_a_kernel() : ""; !left.empty())
        throw RunError(left);
      return found;
    });
    out.write(packed(record, with_report));
    return record.status;
  } catch (const std::bad_alloc&) {  // also while formatting an error
    return kNoMemory;
  }
}

RunRecord record_of(const ChildPool::Ended& e, double timeout_s) {
  RunRecord r;
  r.status = e.status;
  try {
    if (!e.out.empty()) r = unpacked(e.out);
  } catch (const JsonFault&) {  // it was killed while writing
  }
  TextInput lines(e.err);
  for (std::string line; std::getline(lines, line);) r.told.push_back(line);
  if (r.write || !r.faults.empty()) return r;
  // The process was ended by a signal. A signal handler prints a kernel's error on stderr.
  const std::string program = kProgram;
  if (r.status == 0) r.status = 1;
  if (r.status == ChildPool::kTookTooLong) {
    r.told = {};
    r.faults = {fmt::format("took longer than {} s", timeout_s)};
  } else if (r.status == kNoMemory) {
    r.status = 1;
    r.faults = {program + kOutOfMemory};
  } else if (r.status < 128 && !r.told.empty()) {
    r.faults = std::move(r.told);
  } else {
    r.faults = {r.status > 128 ? fmt::format("ended by signal {}", r.status - 128)
                               : program + "the run ended its process"};
  }
  return r;
}

void run_each(const std::vector<spec::RunSpec>& specs, unsigned jobs,
              const std::function<void(size_t, const RunRecord&)>& done) {
  require_no_process();
  run_in_order(
      specs.size(), processes(jobs), [&](size_t i) { return simulate_in_copy([&] { return specs[i]; }, true); },
      [&](const ChildPool::Ended& e) { done(e.id, record_of(e)); });
}

RunRecord run(const spec::RunSpec& spec) {
  RunRecord found;
  run_each({spec}, 1, [&](size_t, const RunRecord& r) { found = r; });
  throw_faults(found);
  return found;
}

}  // namespace kernbench
