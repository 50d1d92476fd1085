// csv and json of a probe.
#include <fmt/ostream.h>

#include <ostream>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/spec/run_document.h"
#include "kernbench/platform/tools/probe_table.h"

namespace kernbench {

namespace {

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

void write_case(JsonWriter& w, const Platform& platform, const ProbeReport& report, size_t i) {
  const ProbeResult& r = report.results[i];
  w.open('{').field("case", r.probe.name).field("target", r.probe.target).field("bytes", r.nbytes);
  for (const ProbeColumn& c : kProbeColumns) w.fixed(c.name, c.value(r));
  w.fixed("formula_ns", r.formula_ns).field("op", name_of_op(r.probe));
  if (i < report.traces.size()) {
    const ProbeTrace& t = report.traces[i];
    write_hops(w.key("hops"), platform.graph(), t);
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
      fmt::print(out, "{},{},{},{},{}{}", report.results[i].probe.name, k, h.response ? "response" : "request",
                 g.nodes[h.node].id, g.nodes[h.node].kind,
                 columns({h.arrive_ns, h.overhead_ns, h.store_forward_ns, h.drain_ns}));
      if (h.edge == ProbeHop::kNoEdge) {
        out << ",,,,,0\n";
        continue;
      }
      fmt::print(out, ",{}{}{},{:d}\n", g.nodes[g.edges[h.edge].to].id, columns({h.transfer_ns, h.wire_ns}),
                 h.bw_gbs > 0 ? columns({h.bw_gbs}) : ",", h.bottleneck);
    }
  }
}

void write_sweep_csv(std::ostream& out, const ProbeReport& report) {
  out << "case,target,bytes,actual_ns,eff_bw_gbs,bottleneck_bw_gbs,util_pct,first_at_90_pct\n";
  for (const ProbeSweep& s : report.sweeps) {
    for (size_t i = 0; i < s.points.size(); ++i) {
      const ProbeResult& r = s.points[i];
      fmt::print(out, "{},{},{}{},{:d}\n", r.probe.name, r.probe.target, r.nbytes,
                 columns({r.actual_ns, r.eff_bw_gbs(), r.bottleneck_bw_gbs, r.util_pct()}), i == s.at_90_pct());
    }
  }
}

void write_saturation_csv(std::ostream& out, const ProbeReport& report) {
  out << "scenario,target,pes,bytes,reads,window_ns,aggregate_gbs,peak_gbs,util_pct,least_gbs,most_gbs,fairness,"
         "busiest_edge,busiest_util\n";
  for (const SaturationResult& r : report.saturation) {
    fmt::print(
        out, "{},{},{},{},{}{},{}{}\n", r.name, r.target, r.shares_gbs.size(), r.nbytes, r.reads,
        columns({r.window_ns, r.aggregate_gbs, r.peak_gbs, r.util_pct(), r.least_gbs(), r.most_gbs(), r.fairness()}),
        r.busiest_edge, columns({r.busiest_util}));
  }
}

}  // namespace

void write_probe_csv(std::ostream& out, const Platform& platform, const ProbeReport& report) {
  if (!report.saturation.empty()) return write_saturation_csv(out, report);
  if (!report.traces.empty()) return write_hops_csv(out, platform.graph(), report);
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

void write_probe_json(std::ostream& out, const Platform& platform, const ProbeReport& report,
                      const spec::RunDocument& run) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::spaced);
  spec::begin_report(w, run);
  w.key("cases").open('[');
  for (size_t i = 0; i < report.results.size(); ++i) write_case(w.new_line(1), platform, report, i);
  for (const SaturationResult& r : report.saturation) write_saturation(w.new_line(1), report, r);
  w.new_line(0).close(']').close('}');
  out << text << '\n';
}

}  // namespace kernbench
