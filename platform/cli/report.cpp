// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/spec_options.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/study/diff/run_diff.h"

namespace kernbench::cli {
namespace {

using Json = nlohmann::json;

struct ReportOptions {
  std::string log, file, format;
  PluginOptions plugins;
  std::vector<std::string> max_time, max_wall;
  std::string page() const {
    return file.empty() ? std::filesystem::path(log).replace_extension(".html").string() : file;
  }
};

/// The run in a log's configuration.
spec::RunSpec spec_of(const Json& configuration, std::string* topology_text) {
  spec::RunSpec r = json_field(configuration, "run",
                               [&](const Json& run) { return spec::options_of(json_text(run), topology_text); });
  if (topology_text->empty()) throw JsonFault("run: topology: 'text' is missing");
  // The bottleneck does not depend on expected values, so these are omitted.
  for (const char* option : {"verify", "expected", "debug-verify", "check-races", "corrupt", "isa"})
    r.list(option).clear();
  return r;
}

/// Collects the ops of a running simulation for diff_runs().
class Ops : public OpLogSink {
 public:
  explicit Ops(std::string name) { run.name = std::move(name); }
  void begin(const OpLogHeader& h) override { run.begin(h); }
  void record(OpRecord&& r) override { run.add(r); }

  RunFile run;
};

/// A line about how the repeated run differs.
bool same_run(const RunFile& logged, const RunFile& again) {
  const RunDiff d = diff_runs(logged, again);
  if (d.ops_that_differ == 0) return true;
  const RunDiff::OpChange& c = *d.first;
  tell(
      fmt::format("kernbench: {}: {} of its {} ops have other times now, first {} {} of {}: kernbench, kernels, blocks "
                  "or inputs have changed; the report describes the repeated run",
                  logged.name, d.ops_that_differ, d.ops, c.name, c.seq, c.pe));
  return false;
}

int report(const ReportOptions& o) {
  try {
    const OpLogContents log = read_op_log(o.log);
    RunFile logged;
    logged.name = o.log;
    spec::RunSpec run;
    std::string topology_text;
    try {
      logged.begin(log.header);
      for (const OpRecord& r : log.records) logged.add(r);
      run = spec_of(parse_json<Json>(log.header.configuration), &topology_text);
    } catch (const JsonFault& e) {
      throw InputError(
          fmt::format("{}: configuration: {}; a log of `kernbench run` or `model` can be reported", o.log, e.what()));
    }
    // A log may come from elsewhere and must not decide which code runs.
    run.list("plugin") = o.plugins.files;
    run.set("format", o.format);
    run.set("explain", "true");
    run.set("report", o.page());
    run.list("max-wall") = o.max_wall;
    if (!o.max_time.empty()) run.list("max-time") = o.max_time;
    const auto again = std::make_shared<Ops>("the repeated run");
    const int status = simulate(run, topology_text, again);
    if (!log.complete) tell(fmt::format("kernbench: {}: was cut off; the report describes the complete run", o.log));
    return status != 0 || (log.complete && !same_run(logged, again->run)) ? 1 : 0;
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  }
}

}  // namespace

Command add_report(CLI::App& app) {
  auto o = std::make_shared<ReportOptions>();
  CLI::App* cmd = app.add_subcommand("report", "Report what bounds the run of an op log, as text and as one HTML page");
  reads_file(cmd->add_option("log", o->log, "the op log, from --oplog of `kernbench run` or `model`")
                 ->required()
                 ->type_name("FILE"));
  CLI::Option* page = cmd->add_option("-o,--output", o->file, "HTML page; default: the log's name with .html");
  writes_file(page->type_name("FILE.html"));
  o->plugins.add_to(*cmd);
  add_option(*cmd, "max-time", o->max_time);
  add_option(*cmd, "max-wall", o->max_wall);
  add_format(*cmd, o->format, {"text", "json"});
  cmd->footer(
      "The log contains the configuration of its run. This command repeats the run and compares the times of each op "
      "(docs/insight.md).");
  const auto files = [o](CommandFiles& f) {
    if (o->file.empty()) f.writes("--output", o->page());
  };
  return {cmd, [o] { return report(*o); }, files};
}

}  // namespace kernbench::cli
