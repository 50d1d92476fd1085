// SPDX-License-Identifier: Apache-2.0
// `kernbench probe`.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/work/probe.h"

namespace kernbench {
namespace {

/// The requested cases; without --case all whose memory is large enough.
std::vector<ProbeCase> choose_cases(Platform& platform, const spec::RunSpec& spec, uint64_t bytes, Told& tell) {
  const std::vector<ProbeCase> all = probe_cases(platform);
  if (all.empty()) throw InputError(spec.text("topology") + ": has no PE and no PCIe endpoint that reaches a memory");
  std::vector<ProbeCase> chosen;
  if (!spec.given("case")) {
    for (const ProbeCase& c : all) {
      if (c.memory_bytes >= bytes) {
        chosen.push_back(c);
      } else {
        tell(fmt::format("kernbench: {}: skipped, its memory is smaller than {} bytes", c.name, bytes));
      }
    }
    if (chosen.empty())
      throw InputError(fmt::format("--bytes: found {}, more than the size of any probed memory", bytes));
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

ProbeReport measure(Platform& platform, const spec::RunSpec& spec, Told& tell) {
  ProbeReport report;
  report.list_checks = spec.flag("check");
  const uint64_t bytes = spec.whole("bytes");
  if (spec.flag("saturate")) {
    report.saturation = run_saturation(platform, bytes);
    report.checks = check_saturation(platform, report.saturation);
    return report;
  }
  const std::vector<ProbeCase> cases = choose_cases(platform, spec, bytes, tell);
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

class ProbeTask : public Task {
 public:
  ProbeTask(const spec::RunSpec& spec, const RunHooks& hooks) : spec_(spec), tell_(hooks), json_(wants_json(spec)) {
    for (const char* other : {"case", "hops", "sweep"}) {
      if (spec.flag("saturate") && spec.given(other))
        throw InputError(fmt::format("kernbench: --saturate excludes --{}", other));
    }
    if (spec.flag("saturate") && !spec.given("bytes")) spec_.set("bytes", "16384");
    if (spec.text("format") == "csv" && spec.flag("hops") && spec.flag("sweep"))
      throw InputError("--format: csv is one table, found both --hops and --sweep");
  }

  RunRecord run(Platform& platform) override {
    const auto found = std::make_shared<const ProbeReport>(measure(platform, spec_, tell_));
    const spec::RunDocument document = document_of(spec_, platform);
    RunRecord record;
    record.document = spec::json_of(document, false);
    record.write = [found, document, &graph = machine_of(platform).graph(), json = json_,
                    csv = spec_.text("format") == "csv"](std::ostream& out) {
      if (json) return write_probe_json(out, graph, *found, document);
      (csv ? write_probe_csv : write_probe_text)(out, graph, *found);
    };
    for (const ProbeCheck& c : found->checks) {
      if (c.passed || !(c.law || spec_.flag("check"))) continue;
      tell_(fmt::format("kernbench: check {} failed: {}: {}", c.name, c.subject, c.found));
      record.status = 1;
    }
    record.told = tell_.take();
    return record;
  }

 private:
  spec::RunSpec spec_;
  Told tell_;
  const bool json_;
};

}  // namespace

std::unique_ptr<Task> probe_task(const spec::RunSpec& spec, const RunHooks& hooks) {
  return std::make_unique<ProbeTask>(spec, hooks);
}

}  // namespace kernbench
