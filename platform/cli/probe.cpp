#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/probe_output.h"

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

struct ProbeOptions {
  TopologyOptions topology;
  LimitOptions limits;
  uint64_t bytes = 32768;
  std::vector<std::string> cases;
  std::string format;
  bool hops = false, sweep = false, saturate = false, check = false;
};

/// The cases asked for; without --case all whose memory is large enough.
std::vector<ProbeCase> choose_cases(Platform& platform, const ProbeOptions& o) {
  const std::vector<ProbeCase> all = probe_cases(platform);
  if (all.empty()) throw InputError(o.topology.file + ": has no PE and no PCIe endpoint that reaches a memory");
  std::vector<ProbeCase> chosen;
  if (o.cases.empty()) {
    for (const ProbeCase& c : all) {
      if (platform.graph().memories[c.memory].size >= o.bytes) {
        chosen.push_back(c);
      } else {
        tell(fmt::format("kernbench: {}: left out, its memory is smaller than {} bytes", c.name, o.bytes));
      }
    }
    if (chosen.empty()) throw InputError(fmt::format("--bytes: found {}, more than any memory probed has", o.bytes));
    return chosen;
  }
  std::string legal;
  for (const ProbeCase& c : all) legal += (legal.empty() ? "" : ", ") + c.name;
  for (const std::string& name : o.cases) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const ProbeCase& c) { return c.name == name; });
    if (it == all.end()) throw InputError("--case: found '" + name + "', this topology has " + legal);
    chosen.push_back(*it);
  }
  return chosen;
}

ProbeReport measure(Platform& platform, const ProbeOptions& o) {
  ProbeReport report;
  report.list_checks = o.check;
  if (o.saturate) {
    report.saturation = run_saturation(platform, o.bytes);
    report.checks = check_saturation(platform, report.saturation);
    return report;
  }
  const std::vector<ProbeCase> cases = choose_cases(platform, o);
  report.results = run_probe(platform, cases, {o.bytes});
  report.checks = check_probe(platform, report.results);
  if (o.hops) {
    for (const ProbeCase& c : cases) report.traces.push_back(trace_hops(platform, c, o.bytes));
  }
  if (o.sweep) {
    report.sweeps = run_sweep(platform, cases);
    const std::vector<ProbeCheck> checks = check_sweep(platform, report.sweeps);
    report.checks.insert(report.checks.end(), checks.begin(), checks.end());
  }
  return report;
}

int probe(const ProbeOptions& o) {
  if (o.bytes == 0) throw InputError("--bytes: found 0, expected at least 1");
  if (o.format == "csv" && o.hops && o.sweep)
    throw InputError("--format: csv is one table, found both --hops and --sweep");
  o.limits.begin();
  Platform& platform = o.topology.build();
  const ProbeReport report = measure(platform, o);
  if (o.format == "json") {
    write_probe_json(std::cout, platform, report);
  } else if (o.format == "csv") {
    write_probe_csv(std::cout, platform, report);
  } else {
    write_probe_text(std::cout, platform, report);
  }
  int status = 0;
  for (const ProbeCheck& c : report.checks) {
    if (c.passed || !(c.law || o.check)) continue;
    tell(fmt::format("kernbench: check {} failed: {}: {}", c.name, c.subject, c.found));
    status = 1;
  }
  return status;
}

}  // namespace

Command add_probe(CLI::App& app) {
  auto o = std::make_shared<ProbeOptions>();
  CLI::App* cmd =
      app.add_subcommand("probe", "Send transactions through an idle system and show where their time goes");
  o->topology.add_to(*cmd);
  CLI::Option* bytes =
      whole_number(cmd->add_option("--bytes", o->bytes, "size of each transaction (--saturate: 16384)"), 1);
  bytes->capture_default_str();
  CLI::Option* cases = cmd->add_option("--case", o->cases, "only these (repeatable)")->type_name("NAME");
  CLI::Option* hops = cmd->add_flag("--hops", o->hops, "each case node by node, the bottleneck marked");
  CLI::Option* sweep = cmd->add_flag("--sweep", o->sweep, "each case at 4 KiB to 1 MiB, 90 % of the bottleneck marked");
  cmd->add_flag("--saturate", o->saturate, "instead of cases: bandwidth and fairness of many reads at once")
      ->excludes(cases)
      ->excludes(hops)
      ->excludes(sweep);
  cmd->add_flag("--check", o->check, "list every check, and fail where the topology is odd too");
  o->limits.add_to(*cmd, false);
  add_format(*cmd, o->format, {"text", "json", "csv"});
  cmd->footer(kChecksHelp);
  return {cmd, [o, bytes] {
            if (o->saturate && bytes->count() == 0) o->bytes = 16384;
            return probe(*o);
          }};
}

}  // namespace kernbench::cli
