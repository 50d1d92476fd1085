#include "kernbench/phase2/io/output_files.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/op/errors.h"
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

void check_output_files(const spec::RunSpec& spec) {
  OutputFiles files;
  for (const spec::Option& o : spec.table().options) {
    if (o.file != spec::Option::File::written) continue;
    const std::string option = "--" + std::string(o.name);
    if (o.has_names()) {
      for (const auto& [name, file] : spec.named(o.name)) files.add(option + " " + name, file);
    } else if (o.name == "memory") {
      files.add(option, memory_file(spec));
    } else if (o.name == "vcd" && spec.given("vcd")) {
      const std::string file = spec.text("vcd");
      files.add_all(option, {file, WaveformView::save_file_of(file), WaveformView::states_file_of(file)});
    } else {
      files.add(option, spec.text(o.name));
    }
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
