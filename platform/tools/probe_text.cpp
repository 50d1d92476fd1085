#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>

#include "kernbench/phase2/text/table.h"
#include "kernbench/platform/tools/probe_table.h"

namespace kernbench {

namespace {

void write_cases(std::ostream& out, const std::vector<ProbeResult>& results) {
  const bool stores =
      std::any_of(results.begin(), results.end(), [](const ProbeResult& r) { return r.store_forward_ns > 0; });
  const auto shown = [&](const ProbeColumn& c) { return stores || std::string(c.name) != "store_forward_ns"; };
  if (!results.empty()) fmt::print(out, "each transaction alone in the system, {} bytes\n\n", results[0].nbytes);
  std::vector<std::string> heading{"case", "target"};
  for (const ProbeColumn& c : kProbeColumns) {
    if (shown(c)) heading.push_back(c.heading);
  }
  TextTable table(2);
  table.add(heading);
  for (const ProbeResult& r : results) {
    std::vector<std::string> row{r.probe.name, r.probe.target};
    for (const ProbeColumn& c : kProbeColumns) {
      if (shown(c)) row.push_back(fixed(c.value(r), c.digits));
    }
    table.add(row);
  }
  out << table.text();
}

/// 0 ns is left blank: what is left is where the time goes.
std::string sparse(double v) {
  const std::string s = fixed(v, 3);
  return s == "0.000" ? "" : s;
}

void write_hops(std::ostream& out, const Platform& platform, const ProbeResult& r, const ProbeTrace& t) {
  const topology::Graph& g = platform.graph();
  fmt::print(out, "\n{}: {}, {} of {} bytes\n", r.probe.name, r.probe.target, name_of_op(r.probe), r.nbytes);
  const bool flits = std::any_of(t.hops.begin(), t.hops.end(), [](const ProbeHop& h) { return h.transfer_ns > 0; });
  std::vector<std::string> heading{"", "node", "kind", "at ns", "overhead", "store+fwd", "drain"};
  if (flits) heading.push_back("1st flit");
  for (const char* h : {"wire", "link GB/s", ""}) heading.push_back(h);
  TextTable table(3);
  table.add(heading);
  for (size_t i = 0; i < t.hops.size(); ++i) {
    const ProbeHop& h = t.hops[i];
    std::vector<std::string> row{h.response ? "<" : ">", g.nodes[h.node].id,    g.nodes[h.node].kind,
                                 fixed(h.arrive_ns, 3),  sparse(h.overhead_ns), sparse(h.store_forward_ns),
                                 sparse(h.drain_ns)};
    if (flits) row.push_back(sparse(h.transfer_ns));
    const bool end = h.edge == ProbeHop::kNoEdge;
    row.push_back(end ? "" : fixed(h.wire_ns, 3));
    row.push_back(end ? "" : h.bw_gbs > 0 ? fixed(h.bw_gbs, 2) : "any");
    row.push_back(h.bottleneck ? "<- bottleneck" : "");
    table.add(row);
  }
  out << table.text();
  if (t.memory_is_bottleneck) fmt::print(out, "  bottleneck: the memory, {} GB/s\n", fixed(t.memory_bw_gbs, 2));
  fmt::print(out, "  drain {} ns, total {} ns\n", fixed(t.drain_ns, 3), fixed(t.total_ns, 3));
}

std::string size_name(uint64_t n) {
  return n % (1 << 20) == 0 ? fmt::format("{} MiB", n >> 20) : fmt::format("{} KiB", n >> 10);
}

void write_sweeps(std::ostream& out, const std::vector<ProbeSweep>& sweeps) {
  out << "\nby size; * marks the smallest that reaches 90 % of the bottleneck\n\n";
  TextTable table(1);
  table.add({"case", "bytes", "actual ns", "eff GB/s", "util %", ""});
  for (const ProbeSweep& s : sweeps) {
    for (size_t i = 0; i < s.points.size(); ++i) {
      const ProbeResult& r = s.points[i];
      table.add({i ? "" : r.probe.name, size_name(r.nbytes), fixed(r.actual_ns, 3), fixed(r.eff_bw_gbs(), 2),
                 fixed(r.util_pct(), 1), i == s.at_90_pct() ? "*" : ""});
    }
  }
  out << table.text();
}

void write_saturation(std::ostream& out, const std::vector<SaturationResult>& results) {
  if (!results.empty())
    fmt::print(out, "reads of {} bytes, as many at once as the DMA channels let out\n\n", results[0].nbytes);
  TextTable table(2);
  table.add({"scenario", "target", "GB/s", "peak GB/s", "util %", "least a PE", "most a PE", "fairness", "busiest link",
             "%"});
  for (const SaturationResult& r : results) {
    const bool links = !r.busiest_edge.empty();
    table.add({r.name, r.target, fixed(r.aggregate_gbs, 2), fixed(r.peak_gbs, 2), fixed(r.util_pct(), 1),
               fixed(r.least_gbs(), 2), fixed(r.most_gbs(), 2), fixed(r.fairness(), 3), links ? r.busiest_edge : "-",
               links ? fixed(100 * r.busiest_util, 1) : ""});
  }
  out << table.text();
}

void write_checks(std::ostream& out, const std::vector<ProbeCheck>& checks, bool all) {
  const auto failed = std::count_if(checks.begin(), checks.end(), [](const ProbeCheck& c) { return !c.passed; });
  out << "\n";
  if (all) {
    for (const ProbeCheck& c : checks)
      fmt::print(out, "{:<6}{}, {}: {}\n", c.passed ? "ok" : "FAIL", c.name, c.subject, c.found);
  }
  std::vector<std::string> names;
  for (const ProbeCheck& c : checks) {
    if (c.passed && std::find(names.begin(), names.end(), c.name) == names.end()) names.push_back(c.name);
  }
  fmt::print(out, "checks: {} passed", checks.size() - static_cast<size_t>(failed));
  if (failed) fmt::print(out, ", {} failed", failed);
  out << (names.empty() ? "\n" : fmt::format(" ({})\n", fmt::join(names, ", ")));
  for (const ProbeCheck& c : checks) {
    if (!c.passed && !all) fmt::print(out, "  {}, {}: {}\n", c.name, c.subject, c.found);
  }
}

}  // namespace

void write_probe_text(std::ostream& out, const Platform& platform, const ProbeReport& report) {
  if (!report.saturation.empty()) {
    write_saturation(out, report.saturation);
  } else {
    write_cases(out, report.results);
  }
  for (size_t i = 0; i < report.traces.size(); ++i) write_hops(out, platform, report.results[i], report.traces[i]);
  if (!report.sweeps.empty()) write_sweeps(out, report.sweeps);
  write_checks(out, report.checks, report.list_checks);
}

}  // namespace kernbench
