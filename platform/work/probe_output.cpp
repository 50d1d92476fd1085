// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::work {

namespace {

using Form = Fields::Form;

const char* name_of_op(const ProbeCase& c) {
  return c.write ? "write" : "read";
}

std::string size_name(uint64_t n) {
  return n % (1 << 20) == 0 ? fmt::format("{} MiB", n >> 20) : fmt::format("{} KiB", n >> 10);
}

/// GB/s; none: unlimited.
std::optional<double> limit(double gbs) {
  return gbs > 0 ? std::optional(gbs) : std::nullopt;
}

/// A column in which 0 is blank, so that the remaining numbers stand out.
Shown sparse(const char* heading) {
  return {heading, 3, 1, false, ""};
}

/// The table of the cases. `stores`: some result has store-and-forward time.
void describe_result(Fields& f, const ProbeResult& r, bool stores = true) {
  f("case", r.probe.name, {"case"})("target", r.probe.target, {"target"});
  if (f.is(Form::json)) f("bytes", r.nbytes);
  f("actual_ns", r.actual_ns, {"actual ns"})("overhead_ns", r.overhead_ns, {"overhead ns"});
  f("drain_ns", r.drain_ns, {"drain ns"})("wire_ns", r.wire_ns, {"wire ns"});
  f("queueing_ns", r.queueing_ns, {"queueing ns"})("overhead_pct", r.overhead_pct(), {"overhead %", 1});
  f("drain_pct", r.drain_pct(), {"drain %", 1})("eff_bw_gbs", r.eff_bw_gbs(), {"eff GB/s", 2});
  f("bottleneck_bw_gbs", r.bottleneck_bw_gbs, {"most GB/s", 2})("util_pct", r.util_pct(), {"util %", 1});
  f("store_forward_ns", r.store_forward_ns, stores ? Shown{"store+fwd ns"} : Shown{});
  if (f.is(Form::json)) f("formula_ns", r.formula_ns)("op", name_of_op(r.probe));
}

/// `flits`: some hop has a first flit.
void describe_hop(Fields& f, const topology::Graph& g, const std::string& name, const std::vector<ProbeHop>& hops,
                  const ProbeHop& h, bool flits) {
  const bool end = h.edge == ProbeHop::kNoEdge, text = f.is(Form::text);
  const auto some = [&](double v) { return text && std::abs(v) < 0.0005 ? std::nullopt : std::optional(v); };
  if (f.is(Form::csv)) f("case", name)("hop", &h - hops.data())("direction", h.response ? "response" : "request");
  if (text) f("", h.response ? "<" : ">", {""});
  f("node", g.nodes[h.node].id, {"node"})("kind", g.nodes[h.node].kind, {"kind"});
  if (f.is(Form::json)) f("response", h.response);
  f("arrive_ns", h.arrive_ns, {"at ns"})("overhead_ns", some(h.overhead_ns), sparse("overhead"));
  f("store_forward_ns", some(h.store_forward_ns), sparse("store+fwd"))("drain_ns", some(h.drain_ns), sparse("drain"));
  if (f.is(Form::json) && end) return;
  f("to", end ? "" : g.nodes[g.edges[h.edge].to].id);
  f("transfer_ns", end ? std::nullopt : some(h.transfer_ns), flits ? sparse("1st flit") : Shown{});
  f("wire_ns", end ? std::nullopt : std::optional(h.wire_ns), sparse("wire"));
  f("bw_gbs", end ? std::nullopt : limit(h.bw_gbs), {"link GB/s", 2, 1, false, end ? "" : "any"});
  if (text) {
    f("", h.bottleneck ? "<- bottleneck" : "", {""});
  } else {
    f.is(Form::json) ? f("bottleneck", h.bottleneck) : f("bottleneck", h.bottleneck ? 1 : 0);
  }
}

void describe_point(Fields& f, const ProbeSweep& s, const ProbeResult& r) {
  const bool text = f.is(Form::text), at_90 = &r == s.points.data() + s.at_90_pct();
  if (!f.is(Form::json)) f("case", text && &r != s.points.data() ? "" : r.probe.name, {"case"});
  if (f.is(Form::csv)) f("target", r.probe.target);
  text ? f("bytes", size_name(r.nbytes), {"bytes"}) : f("bytes", r.nbytes);
  f("actual_ns", r.actual_ns, {"actual ns"})("eff_bw_gbs", r.eff_bw_gbs(), {"eff GB/s", 2});
  if (f.is(Form::csv)) f("bottleneck_bw_gbs", r.bottleneck_bw_gbs);
  f("util_pct", r.util_pct(), {"util %", 1});
  if (f.is(Form::csv)) f("first_at_90_pct", at_90 ? 1 : 0);
  if (text) f("", at_90 ? "*" : "", {""});
}

void describe_saturation(Fields& f, const SaturationResult& r) {
  f("scenario", r.name, {"scenario"})("target", r.target, {"target"})("pes", r.shares_gbs.size())("bytes", r.nbytes);
  f("reads", r.reads)("window_ns", r.window_ns)("aggregate_gbs", r.aggregate_gbs, {"GB/s", 2});
  f("peak_gbs", f.is(Form::json) ? limit(r.peak_gbs) : std::optional(r.peak_gbs), {"peak GB/s", 2});
  f("util_pct", r.util_pct(), {"util %", 1})("least_gbs", r.least_gbs(), {"least a PE", 2});
  f("most_gbs", r.most_gbs(), {"most a PE", 2})("fairness", r.fairness(), {"fairness"});
  if (!r.busiest_edge.empty() || f.is(Form::csv)) {
    f("busiest_edge", r.busiest_edge, {"busiest link"})("busiest_util", r.busiest_util, {"%", 1, 100});
  } else if (f.is(Form::text)) {
    f("", "-", {"busiest link"})("", "", {"%"});
  }
}

void describe_checks(Fields& f, const std::vector<ProbeCheck>& checks, const std::string& subject) {
  std::vector<ProbeCheck> of;
  std::copy_if(checks.begin(), checks.end(), std::back_inserter(of), [&](auto& c) { return c.subject == subject; });
  f.each("checks", of,
         [&](const ProbeCheck& c) { f("name", c.name)("law", c.law)("passed", c.passed)("found", c.found); });
}

void describe_case(Fields& f, const topology::Graph& graph, const ProbeReport& report, size_t i) {
  const ProbeResult& r = report.results[i];
  describe_result(f, r);
  if (i < report.traces.size()) {
    const ProbeTrace& t = report.traces[i];
    f.each("hops", t.hops, [&](const ProbeHop& h) { describe_hop(f, graph, "", t.hops, h, true); });
    f("total_ns", t.total_ns)("memory_bw_gbs", limit(t.memory_bw_gbs))("memory_is_bottleneck", t.memory_is_bottleneck);
  }
  if (i < report.sweeps.size()) {
    const ProbeSweep& s = report.sweeps[i];
    const size_t at = s.at_90_pct();
    f.each("sweep", s.points, [&](const ProbeResult& p) { describe_point(f, s, p); });
    f("bytes_at_90_pct", at < s.points.size() ? std::optional(s.points[at].nbytes) : std::nullopt);
  }
  describe_checks(f, report.checks, r.probe.name);
}

// Text.

void write_hops(std::ostream& out, const topology::Graph& g, const ProbeResult& r, const ProbeTrace& t) {
  print_to(out, "\n{}: {}, {} of {} bytes\n", r.probe.name, r.probe.target, name_of_op(r.probe), r.nbytes);
  const bool flits = std::any_of(t.hops.begin(), t.hops.end(), [](const ProbeHop& h) { return h.transfer_ns > 0; });
  TextFields table(3);
  table.rows(t.hops, [&](const ProbeHop& h) { describe_hop(table, g, "", t.hops, h, flits); });
  out << table.text();
  if (t.memory_is_bottleneck) print_to(out, "  bottleneck: the memory, {:.2f} GB/s\n", t.memory_bw_gbs);
  print_to(out, "  drain {:.3f} ns, total {:.3f} ns\n", t.drain_ns, t.total_ns);
}

void write_checks(std::ostream& out, const std::vector<ProbeCheck>& checks, bool all) {
  const auto failed = std::count_if(checks.begin(), checks.end(), [](const ProbeCheck& c) { return !c.passed; });
  out << "\n";
  if (all) {
    for (const ProbeCheck& c : checks)
      print_to(out, "{:<6}{}, {}: {}\n", c.passed ? "ok" : "FAIL", c.name, c.subject, c.found);
  }
  std::vector<std::string> names;
  for (const ProbeCheck& c : checks) {
    if (c.passed && std::find(names.begin(), names.end(), c.name) == names.end()) names.push_back(c.name);
  }
  print_to(out, "checks: {} passed", checks.size() - static_cast<size_t>(failed));
  if (failed) print_to(out, ", {} failed", failed);
  out << (names.empty() ? "\n" : fmt::format(" ({})\n", joined(names)));
  for (const ProbeCheck& c : checks) {
    if (!c.passed && !all) print_to(out, "  {}, {}: {}\n", c.name, c.subject, c.found);
  }
}

}  // namespace

void write_probe_csv(std::ostream& out, const topology::Graph& graph, const ProbeReport& report) {
  CsvFields csv(out);
  if (!report.saturation.empty())
    return csv.rows(report.saturation, [&](const SaturationResult& r) { describe_saturation(csv, r); });
  for (size_t i = 0; i < report.traces.size(); ++i) {
    const auto& hops = report.traces[i].hops;
    csv.rows(hops, [&](auto& h) { describe_hop(csv, graph, report.results[i].probe.name, hops, h, true); });
  }
  if (!report.traces.empty()) return;
  for (const ProbeSweep& s : report.sweeps)
    csv.rows(s.points, [&](const ProbeResult& r) { describe_point(csv, s, r); });
  if (!report.sweeps.empty()) return;
  csv.head([&] { describe_result(csv, {}); });
  csv.rows(report.results, [&](const ProbeResult& r) { describe_result(csv, r); });
}

void write_probe_json(std::ostream& out, const topology::Graph& graph, const ProbeReport& report,
                      const spec::RunDocument& run) {
  std::vector<std::function<void()>> cases;
  JsonFields f(out, JsonWriter::Layout::spaced, JsonWriter::Reals::fixed);
  for (size_t i = 0; i < report.results.size(); ++i) cases.emplace_back([&, i] { describe_case(f, graph, report, i); });
  for (const SaturationResult& r : report.saturation) {
    cases.emplace_back([&] {
      describe_saturation(f, r);
      f("shares_gbs", r.shares_gbs);
      describe_checks(f, report.checks, r.name);
    });
  }
  f.document([&] {
    spec::begin_report(f, run);
    f.lines(1, 0)("cases", cases);
  });
}

void write_probe_text(std::ostream& out, const topology::Graph& graph, const ProbeReport& report) {
  TextFields table(2);
  if (!report.saturation.empty()) {
    print_to(out, "reads of {} bytes, as many concurrently as the DMA channels allow\n\n", report.saturation[0].nbytes);
    table.rows(report.saturation, [&](const SaturationResult& r) { describe_saturation(table, r); });
  } else {
    const auto& all = report.results;
    const bool stores = std::any_of(all.begin(), all.end(), [](auto& r) { return r.store_forward_ns > 0; });
    if (!all.empty()) print_to(out, "one transaction at a time in an idle system, {} bytes\n\n", all[0].nbytes);
    table.head([&] { describe_result(table, {}, stores); });
    table.rows(all, [&](const ProbeResult& r) { describe_result(table, r, stores); });
  }
  out << table.text();
  for (size_t i = 0; i < report.traces.size(); ++i) write_hops(out, graph, report.results[i], report.traces[i]);
  TextFields sizes(1);
  for (const ProbeSweep& s : report.sweeps)
    sizes.rows(s.points, [&](const ProbeResult& r) { describe_point(sizes, s, r); });
  if (!report.sweeps.empty())
    out << "\nby size; * marks the smallest that reaches 90 % of the bottleneck\n\n" << sizes.text();
  write_checks(out, report.checks, report.list_checks);
}

}  // namespace kernbench::work
