#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/platform/cli/run_command.h"
#include "kernbench/platform/tools/run_diff.h"

namespace kernbench::cli {
namespace {

using Json = nlohmann::json;

struct ReportOptions {
  std::string log, file, format;
  PluginOptions plugins;
  LimitOptions limits;
};

std::vector<std::string> texts_or_none(const Json& configuration, const char* key) {
  if (!configuration.contains(key)) return {};
  return json_field(configuration, key, [](const Json& list) {
    return json_items(list, [](const Json& v) { return json_value<std::string>(v); });
  });
}

/// The command that a log's configuration tells of.
RunCommand command_of(const Json& c) {
  RunCommand r;
  r.kernel = json_field_or<std::string>(c, "kernel", "");
  r.program = json_field_or<std::string>(c, "program", "");
  r.topology.file = json_field<std::string>(c, "topology");
  r.topology.yaml = json_field<std::string>(c, "topology_file");
  if (r.topology.yaml.empty()) throw JsonFault("topology_file: found nothing, expected the system");
  json_field(c, "timing", [&](const Json& timing) {
    r.topology.links = json_field<std::string>(timing, "links");
    r.topology.response = json_field<std::string>(timing, "response");
    return 0;
  });
  r.topology.settings = texts_or_none(c, "set");
  r.topology.scales = texts_or_none(c, "scale");
  json_field(c, "params", [&](const Json& params) {
    for (const auto& [name, value] : params.items()) r.params.push_back(name + "=" + json_value<std::string>(value));
    return 0;
  });
  r.tensors = texts_or_none(c, "tensors");
  r.seed = json_field<uint64_t>(c, "seed");
  r.pes = json_field<std::string>(c, "pes");
  r.device = json_field<std::string>(c, "device");
  r.ranks = json_field_or<std::string>(c, "ranks", "all");
  r.launch = json_field<std::string>(c, "launch");
  r.transfer = json_field<std::string>(c, "transfer");
  r.address = json_field_or<std::string>(c, "address", "physical");
  r.energy = json_field_or<std::string>(c, "energy", "");
  return r;
}

/// The ops of a run that goes on, for diff_runs().
class Ops : public OpLogSink {
 public:
  explicit Ops(std::string name) { run.name = std::move(name); }
  void begin(const OpLogHeader& h) override { run.begin(h); }
  void record(OpRecord&& r) override { run.add(r); }

  RunFile run;
};

/// Where the run that was done again is another one: a line that says so.
bool same_run(const RunFile& logged, const RunFile& again) {
  const RunDiff d = diff_runs(logged, again);
  if (d.ops_that_differ == 0) return true;
  const RunDiff::OpChange& c = *d.first;
  tell(fmt::format(
      "kernbench: {}: {} of its {} ops come at other times now, {} {} of {} first: another kernbench, or other "
      "kernels, blocks or inputs; the report is of the run as it is now",
      logged.name, d.ops_that_differ, d.ops, c.name, c.seq, c.pe));
  return false;
}

int report(const ReportOptions& o) {
  try {
    const OpLogContents log = read_op_log(o.log);
    RunFile logged;
    logged.name = o.log;
    RunCommand command;
    try {
      logged.begin(log.header);
      for (const OpRecord& r : log.records) logged.add(r);
      command = command_of(parse_json<Json>(log.header.configuration));
    } catch (const JsonFault& e) {
      throw InputError(fmt::format("{}: configuration: {}; a log of `kernbench run` can be reported", o.log, e.what()));
    }
    command.topology.plugins = o.plugins;
    command.limits = o.limits;
    command.format = o.format;
    command.explain = true;
    command.report = o.file.empty() ? std::filesystem::path(o.log).replace_extension(".html").string() : o.file;
    const auto again = std::make_shared<Ops>("the run done again");
    command.watcher = again;
    const int status = run(command);
    if (!log.complete) tell(fmt::format("kernbench: {}: was cut off; the report is of the whole run", o.log));
    return status != 0 || (log.complete && !same_run(logged, again->run)) ? 1 : 0;
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  }
}

}  // namespace

Command add_report(CLI::App& app) {
  auto o = std::make_shared<ReportOptions>();
  CLI::App* cmd = app.add_subcommand("report", "What bounds the run of an op log, as text and as one HTML page");
  cmd->add_option("log", o->log, "of `kernbench run --oplog`")->required()->type_name("FILE");
  cmd->add_option("-o,--output", o->file, "the page; default: the log's name with .html")->type_name("FILE.html");
  o->plugins.add_to(*cmd);
  o->limits.add_to(*cmd);
  add_format(*cmd, o->format, {"text", "json"});
  cmd->footer(
      "The log says which run it was; that run is done again, and told apart from the logged one by every op's times "
      "(docs/insight.md).");
  return {cmd, [o] { return report(*o); }};
}

}  // namespace kernbench::cli
