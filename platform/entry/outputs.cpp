// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/entry/system.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/run_of_spec.h"

namespace kernbench {

TimeWindow window_of(const spec::RunSpec& run, const std::string& recording) {
  TimeWindow window;
  for (const auto& [end, ns] : {std::pair("-from", &window.from_ns), {"-to", &window.to_ns}}) {
    *ns = run.number(recording + end).value_or(*ns);
  }
  return window;
}

std::unique_ptr<Waveform> waveform_of(const spec::RunSpec& run, Platform& platform, energy::Meter* meter) {
  const TimeWindow window = window_of(run, "vcd");
  if (!run.given("vcd")) return nullptr;
  const WaveformOptions options{run.text("vcd"), run.list("vcd-scope"), window.from_ns, window.to_ns, meter};
  return std::make_unique<Waveform>(platform, options);
}

std::unique_ptr<TransactionRecorder> recorder_of(const spec::RunSpec& run, Platform& platform) {
  const TimeWindow window = window_of(run, "ftr");
  return run.given("ftr") ? std::make_unique<TransactionRecorder>(platform, run.text("ftr"), window) : nullptr;
}

std::string memory_file(const spec::RunSpec& spec) {
  const std::string log = spec.text("oplog"), memory = spec.text("memory");
  return log.empty() || memory == "none" ? "" : memory.empty() ? memory_file_of(log) : memory;
}

std::vector<std::string> files_of(const spec::Option& o, const std::string& value) {
  namespace fs = std::filesystem;
  std::error_code none;
  std::vector<std::string> files = {value};
  if (o.file == spec::Option::File::energy) files = {energy_file(value)};
  if (o.file == spec::Option::File::topology) {
    files = {topology_file(value)};
    if (fs::is_regular_file(files[0], none)) {
      std::ifstream in = open_input(files[0]);
      files.push_back(spec::energy_table_of(read_all(in, files[0]), files[0]));
    }
  }
  for (fs::directory_iterator it(value, none), end; o.file == spec::Option::File::input && it != end;
       it.increment(none))
    files.push_back(it->path().string());
  switch (o.beside) {
    case spec::Option::Beside::none:
      break;
    case spec::Option::Beside::external_data:
      for (const std::string& file : external_files(value)) files.push_back(file);
      break;
    case spec::Option::Beside::waveform_views:
      files.insert(files.end(), {WaveformView::save_file_of(value), WaveformView::states_file_of(value)});
      break;
    case spec::Option::Beside::database:
      for (const char* end : {"-wal", "-shm", "-journal"}) files.push_back(value + end);
      break;
  }
  return files;
}

void add_files(CommandFiles& files, const spec::RunSpec& spec) {
  using File = spec::Option::File;
  for (const bool outputs : {true, false}) {
    if (!outputs && !files.has_outputs()) return;  // avoids reading topology and model
    for (const spec::Option& o : spec.table().options) {
      if (o.file == File::none || (o.file == File::written) != outputs) continue;
      const bool memory = o.name == "memory";
      for (const std::string& v : memory ? std::vector{memory_file(spec)} : spec.list(o.name)) {
        const auto of = [&o](const std::string& value) { return files_of(o, value); };
        files.add("--" + std::string(o.name), v, o.has_names(), outputs, of);
      }
    }
  }
}

void tell_empty_windows(const spec::RunSpec& spec, Platform& platform, Told& tell) {
  const double end_ns = platform.timeline().now_ns();
  for (const char* option : {"trace-from", "ftr-from", "vcd-from"}) {
    const auto from_ns = spec.table().find(option) ? spec.number(option) : std::nullopt;
    if (!from_ns || *from_ns < end_ns) continue;
    tell(fmt::format("kernbench: warning: --{}: found {}, behind the end at {:.3f} ns: nothing is recorded", option,
                     spec.text(option), end_ns));
  }
}

bool wants_json(const spec::RunSpec& spec) {
  spec.check_needs();
  const bool json = spec.text("format") == "json";
  if (spec.flag("report-topology") && !json) throw InputError("--report-topology: needs --format json beside it");
  return json;
}

spec::RunDocument document_of(const spec::RunSpec& spec, const Platform& platform) {
  auto document = spec::RunDocument::of(spec, version(), topology_file(spec.text("topology")), "");
  set_links(document, platform.graph());
  return document;
}

}  // namespace kernbench
