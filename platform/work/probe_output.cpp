#include "kernbench/platform/work/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/table.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench {

namespace {

// What all forms share: the columns of the seed's table, and numbers that look the same everywhere.

struct ProbeColumn {
  const char* name;     ///< csv, json
  const char* heading;  ///< text
  int digits;           ///< text; as the seed shows them or finer
  double (*value)(const ProbeResult&);
};

constexpr ProbeColumn kProbeColumns[] = {
    {"actual_ns", "actual ns", 3, [](const ProbeResult& r) { return r.actual_ns; }},
    {"overhead_ns", "overhead ns", 3, [](const ProbeResult& r) { return r.overhead_ns; }},
    {"drain_ns", "drain ns", 3, [](const ProbeResult& r) { return r.drain_ns; }},
    {"wire_ns", "wire ns", 3, [](const ProbeResult& r) { return r.wire_ns; }},
    {"queueing_ns", "queueing ns", 3, [](const ProbeResult& r) { return r.queueing_ns; }},
    {"overhead_pct", "overhead %", 1, [](const ProbeResult& r) { return r.overhead_pct(); }},
    {"drain_pct", "drain %", 1, [](const ProbeResult& r) { return r.drain_pct(); }},
    {"eff_bw_gbs", "eff GB/s", 2, [](const ProbeResult& r) { return r.eff_bw_gbs(); }},
    {"bottleneck_bw_gbs", "most GB/s", 2, [](const ProbeResult& r) { return r.bottleneck_bw_gbs; }},
    {"util_pct", "util %", 1, [](const ProbeResult& r) { return r.util_pct(); }},
    {"store_forward_ns", "store+fwd ns", 3, [](const ProbeResult& r) { return r.store_forward_ns; }},
};

/// Never "-0.000".
std::string fixed(double v, int digits) {
  return fmt::format("{:.{}f}", std::abs(v) < 0.5 * std::pow(10, -digits) ? 0 : v, digits);
}

const char* name_of_op(const ProbeCase& c) {
  return c.write ? "write" : "read";
}

// JSON and CSV.

void write_limit(JsonWriter& w, double gbs) {
  if (gbs > 0)
    w.fixed_value(gbs);
  else
    w.null();
}

void write_hops(JsonWriter& w, const topology::Graph& g, const ProbeTrace& t) {
  w.open('[');
  for (const ProbeHop& h : t.hops) {
    w.open('{').field("node", g.nodes[h.node].id).field("kind", g.nodes[h.node].kind).field("response", h.response);
    w.fixed("arrive_ns", h.arrive_ns).fixed("overhead_ns", h.overhead_ns);
    w.fixed("store_forward_ns", h.store_forward_ns).fixed("drain_ns", h.drain_ns);
    if (h.edge != ProbeHop::kNoEdge) {
      w.field("to", g.nodes[g.edges[h.edge].to].id).fixed("transfer_ns", h.transfer_ns).fixed("wire_ns", h.wire_ns);
      write_limit(w.key("bw_gbs"), h.bw_gbs);
      w.field("bottleneck", h.bottleneck);
    }
    w.close('}');
  }
  w.close(']');
}

void write_sweep(JsonWriter& w, const ProbeSweep& s) {
  w.open('[');
  for (const ProbeResult& r : s.points) {
    w.open('{').field("bytes", r.nbytes).fixed("actual_ns", r.actual_ns).fixed("eff_bw_gbs", r.eff_bw_gbs());
    w.fixed("util_pct", r.util_pct()).close('}');
  }
  w.close(']');
}

void write_checks(JsonWriter& w, const std::vector<ProbeCheck>& checks, const std::string& subject) {
  w.key("checks").open('[');
  for (const ProbeCheck& c : checks) {
    if (c.subject != subject) continue;
    w.open('{').field("name", c.name).field("law", c.law).field("passed", c.passed).field("found", c.found).close('}');
  }
  w.close(']');
}

void write_saturation(JsonWriter& w, const ProbeReport& report, const SaturationResult& r) {
  w.open('{').field("scenario", r.name).field("target", r.target).field("pes", r.shares_gbs.size());
  w.field("bytes", r.nbytes).field("reads", r.reads);
  w.fixed("window_ns", r.window_ns).fixed("aggregate_gbs", r.aggregate_gbs);
  write_limit(w.key("peak_gbs"), r.peak_gbs);
  w.fixed("util_pct", r.util_pct()).fixed("least_gbs", r.least_gbs()).fixed("most_gbs", r.most_gbs());
  w.fixed("fairness", r.fairness());
  if (!r.busiest_edge.empty()) w.field("busiest_edge", r.busiest_edge).fixed("busiest_util", r.busiest_util);
  w.key("shares_gbs").open('[');
  for (double s : r.shares_gbs) w.fixed_value(s);
  w.close(']');
  write_checks(w, report.checks, r.name);
  w.close('}');
}

void write_case(JsonWriter& w, const topology::Graph& graph, const ProbeReport& report, size_t i) {
  const ProbeResult& r = report.results[i];
  w.open('{').field("case", r.probe.name).field("target", r.probe.target).field("bytes", r.nbytes);
  for (const ProbeColumn& c : kProbeColumns) w.fixed(c.name, c.value(r));
  w.fixed("formula_ns", r.formula_ns).field("op", name_of_op(r.probe));
  if (i < report.traces.size()) {
    const ProbeTrace& t = report.traces[i];
    write_hops(w.key("hops"), graph, t);
    write_limit(w.fixed("total_ns", t.total_ns).key("memory_bw_gbs"), t.memory_bw_gbs);
    w.field("memory_is_bottleneck", t.memory_is_bottleneck);
  }
  if (i < report.sweeps.size()) {
    const ProbeSweep& s = report.sweeps[i];
    const size_t at = s.at_90_pct();
    write_sweep(w.key("sweep"), s);
    w.key("bytes_at_90_pct");
    if (at < s.points.size())
      w.value(s.points[at].nbytes);
    else
      w.null();
  }
  write_checks(w, report.checks, r.probe.name);
  w.close('}');
}

/// ",1.000000,2.500000".
std::string columns(std::initializer_list<double> values) {
  std::string text;
  for (double v : values) append_fixed(text += ',', v);
  return text;
}

void write_hops_csv(std::ostream& out, const topology::Graph& g, const ProbeReport& report) {
  out << "case,hop,direction,node,kind,arrive_ns,overhead_ns,store_forward_ns,drain_ns,to,transfer_ns,wire_ns,bw_gbs,"
         "bottleneck\n";
  for (size_t i = 0; i < report.traces.size(); ++i) {
    const auto& hops = report.traces[i].hops;
    for (size_t k = 0; k < hops.size(); ++k) {
      const ProbeHop& h = hops[k];
      print_to(out, "{},{},{},{},{}{}", report.results[i].probe.name, k, h.response ? "response" : "request",
               g.nodes[h.node].id, g.nodes[h.node].kind,
               columns({h.arrive_ns, h.overhead_ns, h.store_forward_ns, h.drain_ns}));
      if (h.edge == ProbeHop::kNoEdge) {
        out << ",,,,,0\n";
        continue;
      }
      print_to(out, ",{}{}{},{:d}\n", g.nodes[g.edges[h.edge].to].id, columns({h.transfer_ns, h.wire_ns}),
               h.bw_gbs > 0 ? columns({h.bw_gbs}) : ",", h.bottleneck);
    }
  }
}

void write_sweep_csv(std::ostream& out, const ProbeReport& report) {
  out << "case,target,bytes,actual_ns,eff_bw_gbs,bottleneck_bw_gbs,util_pct,first_at_90_pct\n";
  for (const ProbeSweep& s : report.sweeps) {
    for (size_t i = 0; i < s.points.size(); ++i) {
      const ProbeResult& r = s.points[i];
      print_to(out, "{},{},{}{},{:d}\n", r.probe.name, r.probe.target, r.nbytes,
               columns({r.actual_ns, r.eff_bw_gbs(), r.bottleneck_bw_gbs, r.util_pct()}), i == s.at_90_pct());
    }
  }
}

void write_saturation_csv(std::ostream& out, const ProbeReport& report) {
  out << "scenario,target,pes,bytes,reads,window_ns,aggregate_gbs,peak_gbs,util_pct,least_gbs,most_gbs,fairness,"
         "busiest_edge,busiest_util\n";
  for (const SaturationResult& r : report.saturation) {
    print_to(
        out, "{},{},{},{},{}{},{}{}\n", r.name, r.target, r.shares_gbs.size(), r.nbytes, r.reads,
        columns({r.window_ns, r.aggregate_gbs, r.peak_gbs, r.util_pct(), r.least_gbs(), r.most_gbs(), r.fairness()}),
        r.busiest_edge, columns({r.busiest_util}));
  }
}

// Text.

void write_cases(std::ostream& out, const std::vector<ProbeResult>& results) {
  const bool stores =
      std::any_of(results.begin(), results.end(), [](const ProbeResult& r) { return r.store_forward_ns > 0; });
  const auto shown = [&](const ProbeColumn& c) { return stores || std::string(c.name) != "store_forward_ns"; };
  if (!results.empty()) print_to(out, "each transaction alone in the system, {} bytes\n\n", results[0].nbytes);
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

void write_hops(std::ostream& out, const topology::Graph& g, const ProbeResult& r, const ProbeTrace& t) {
  print_to(out, "\n{}: {}, {} of {} bytes\n", r.probe.name, r.probe.target, name_of_op(r.probe), r.nbytes);
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
  if (t.memory_is_bottleneck) print_to(out, "  bottleneck: the memory, {} GB/s\n", fixed(t.memory_bw_gbs, 2));
  print_to(out, "  drain {} ns, total {} ns\n", fixed(t.drain_ns, 3), fixed(t.total_ns, 3));
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
    print_to(out, "reads of {} bytes, as many at once as the DMA channels let out\n\n", results[0].nbytes);
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
  if (!report.saturation.empty()) return write_saturation_csv(out, report);
  if (!report.traces.empty()) return write_hops_csv(out, graph, report);
  if (!report.sweeps.empty()) return write_sweep_csv(out, report);
  out << "case,target";
  for (const ProbeColumn& c : kProbeColumns) out << ',' << c.name;
  out << '\n';
  for (const ProbeResult& r : report.results) {
    out << r.probe.name << ',' << r.probe.target;
    for (const ProbeColumn& c : kProbeColumns) out << columns({c.value(r)});
    out << '\n';
  }
}

void write_probe_json(std::ostream& out, const topology::Graph& graph, const ProbeReport& report,
                      const spec::RunDocument& run) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::spaced);
  spec::begin_report(w, run);
  w.key("cases").open('[');
  for (size_t i = 0; i < report.results.size(); ++i) write_case(w.new_line(1), graph, report, i);
  for (const SaturationResult& r : report.saturation) write_saturation(w.new_line(1), report, r);
  w.new_line(0).close(']').close('}');
  out << text << '\n';
}

void write_probe_text(std::ostream& out, const topology::Graph& graph, const ProbeReport& report) {
  if (!report.saturation.empty()) {
    write_saturation(out, report.saturation);
  } else {
    write_cases(out, report.results);
  }
  for (size_t i = 0; i < report.traces.size(); ++i) write_hops(out, graph, report.results[i], report.traces[i]);
  if (!report.sweeps.empty()) write_sweeps(out, report.sweeps);
  write_checks(out, report.checks, report.list_checks);
}

}  // namespace kernbench
