#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/spec_options.h"
#include "kernbench/platform/work/probe.h"

namespace kernbench::cli {

namespace {

constexpr const char* kChecksHelp =
    "Checks, made in every run and summed up in its last line (docs/probe.md):\n"
    "  laws of the model, exit status 1 if one fails:\n"
    "    formula     alone, a transaction takes its closed form and waits for nothing\n"
    "    parts       overhead, drain, wire, store-and-forward and queueing sum to the latency\n"
    "    hops        so do the nodes and edges of its way\n"
    "    read-write  over links alike in both directions a read takes as long as a write, each without its\n"
    "                store-and-forward (not with --links flit)\n"
    "    size        more bytes never take less time (--sweep)\n"
    "    peak        PEs never get more than memories and links can give (--saturate)\n"
    "  expectations of a sound machine, exit status 1 if one fails and --check is given:\n"
    "    distance    of HBM slices, the one farther away in mm and hops is not reached earlier\n"
    "    best-worst  the fastest slice is faster than the slowest, where distances differ\n"
    "    fairness    PEs that read one slice get shares within 5 % of the mean, where equal shares leave a fifth\n"
    "                of every link before the memory to spare (--saturate with --links flit)";

/// The cases asked for; without --case all whose memory is large enough.
std::vector<ProbeCase> choose_cases(Platform& platform, const spec::RunSpec& spec, uint64_t bytes) {
  const std::vector<ProbeCase> all = probe_cases(platform);
  if (all.empty()) throw InputError(spec.text("topology") + ": has no PE and no PCIe endpoint that reaches a memory");
  std::vector<ProbeCase> chosen;
  if (!spec.given("case")) {
    for (const ProbeCase& c : all) {
      if (c.memory_bytes >= bytes) {
        chosen.push_back(c);
      } else {
        tell(fmt::format("kernbench: {}: left out, its memory is smaller than {} bytes", c.name, bytes));
      }
    }
    if (chosen.empty()) throw InputError(fmt::format("--bytes: found {}, more than any memory probed has", bytes));
    return chosen;
  }
  std::string legal;
  for (const ProbeCase& c : all) legal += (legal.empty() ? "" : ", ") + c.name;
  for (const std::string& name : spec.list("case")) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const ProbeCase& c) { return c.name == name; });
    if (it == all.end()) throw InputError("--case: found '" + name + "', this topology has " + legal);
    chosen.push_back(*it);
  }
  return chosen;
}

ProbeReport measure(Platform& platform, const spec::RunSpec& spec) {
  ProbeReport report;
  report.list_checks = spec.flag("check");
  const uint64_t bytes = spec.whole("bytes");
  if (spec.flag("saturate")) {
    report.saturation = run_saturation(platform, bytes);
    report.checks = check_saturation(platform, report.saturation);
    return report;
  }
  const std::vector<ProbeCase> cases = choose_cases(platform, spec, bytes);
  report.results = run_probe(platform, cases, {bytes});
  report.checks = check_probe(platform, report.results);
  if (spec.flag("hops")) {
    for (const ProbeCase& c : cases) report.traces.push_back(trace_hops(platform, c, bytes));
  }
  if (spec.flag("sweep")) {
    report.sweeps = run_sweep(platform, cases);
    const std::vector<ProbeCheck> checks = check_sweep(platform, report.sweeps);
    report.checks.insert(report.checks.end(), checks.begin(), checks.end());
  }
  return report;
}

int probe(const spec::RunSpec& spec) {
  const bool json = wants_json(spec);
  if (spec.text("format") == "csv" && spec.flag("hops") && spec.flag("sweep"))
    throw InputError("--format: csv is one table, found both --hops and --sweep");
  LimitOptions(spec).begin();
  Platform& platform = TopologyOptions(spec).build();
  const topology::Graph& graph = graph_of(platform);
  const ProbeReport report = measure(platform, spec);
  if (json) {
    write_probe_json(std::cout, graph, report, document_of(spec, platform));
  } else if (spec.text("format") == "csv") {
    write_probe_csv(std::cout, graph, report);
  } else {
    write_probe_text(std::cout, graph, report);
  }
  int status = 0;
  for (const ProbeCheck& c : report.checks) {
    if (c.passed || !(c.law || spec.flag("check"))) continue;
    tell(fmt::format("kernbench: check {} failed: {}: {}", c.name, c.subject, c.found));
    status = 1;
  }
  return status;
}

}  // namespace

Command add_probe(CLI::App& app) {
  auto spec = std::make_shared<spec::RunSpec>(spec::table_of("probe"));
  CLI::App* cmd =
      app.add_subcommand("probe", "Send transactions through an idle system and show where their time goes");
  add_options(*cmd, *spec);
  for (const char* other : {"--case", "--hops", "--sweep"})
    cmd->get_option("--saturate")->excludes(cmd->get_option(other));
  cmd->footer(kChecksHelp);
  return {cmd, [spec] {
            if (spec->flag("saturate") && !spec->given("bytes")) spec->set("bytes", "16384");
            return probe(*spec);
          }};
}

}  // namespace kernbench::cli
