// csv and json of a probe.
#include <ostream>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/platform/tools/probe_table.h"

namespace kernbench {

namespace {

constexpr int kDigits = 6;  // fs

std::string quote(const std::string& s) {
  std::string q;
  append_string(q, s);
  return q;
}

/// Objects and arrays in one line each, in the order in which they are added.
class Json {
 public:
  explicit Json(char open) : text_(1, open) {}
  Json& key(const char* name) {
    text_ += (text_.size() > 1 ? ", \"" : "\"") + std::string(name) + "\": ";
    return *this;
  }
  Json& element() {
    if (text_.size() > 1) text_ += ", ";
    return *this;
  }
  Json& raw(const std::string& v) {
    text_ += v;
    return *this;
  }
  Json& add(const char* name, const std::string& v) { return key(name).raw(quote(v)); }
  Json& add(const char* name, double v) { return key(name).raw(fixed(v, kDigits)); }
  Json& add(const char* name, uint64_t v) { return key(name).raw(std::to_string(v)); }
  Json& add(const char* name, bool v) { return key(name).raw(v ? "true" : "false"); }
  Json& add_limit(const char* name, double gbs) { return key(name).raw(gbs > 0 ? fixed(gbs, kDigits) : "null"); }
  std::string close(char c) const { return text_ + c; }

 private:
  std::string text_;
};

std::string hops_json(const topology::Graph& g, const ProbeTrace& t) {
  Json hops('[');
  for (const ProbeHop& h : t.hops) {
    Json j('{');
    j.add("node", g.nodes[h.node].id).add("kind", g.nodes[h.node].kind).add("response", h.response);
    j.add("arrive_ns", h.arrive_ns).add("overhead_ns", h.overhead_ns).add("store_forward_ns", h.store_forward_ns);
    j.add("drain_ns", h.drain_ns);
    if (h.edge != ProbeHop::kNoEdge) {
      j.add("to", g.nodes[g.edges[h.edge].to].id).add("transfer_ns", h.transfer_ns).add("wire_ns", h.wire_ns);
      j.add_limit("bw_gbs", h.bw_gbs).add("bottleneck", h.bottleneck);
    }
    hops.element().raw(j.close('}'));
  }
  return hops.close(']');
}

std::string sweep_json(const ProbeSweep& s) {
  Json points('[');
  for (const ProbeResult& r : s.points) {
    Json j('{');
    j.add("bytes", r.nbytes)
        .add("actual_ns", r.actual_ns)
        .add("eff_bw_gbs", r.eff_bw_gbs())
        .add("util_pct", r.util_pct());
    points.element().raw(j.close('}'));
  }
  return points.close(']');
}

std::string checks_json(const std::vector<ProbeCheck>& checks, const std::string& subject) {
  Json list('[');
  for (const ProbeCheck& c : checks) {
    if (c.subject != subject) continue;
    Json j('{');
    j.add("name", c.name).add("law", c.law).add("passed", c.passed).add("found", c.found);
    list.element().raw(j.close('}'));
  }
  return list.close(']');
}

std::string saturation_json(const ProbeReport& report, const SaturationResult& r) {
  Json j('{');
  j.add("scenario", r.name).add("target", r.target).add("pes", uint64_t{r.shares_gbs.size()}).add("bytes", r.nbytes);
  j.add("reads", r.reads).add("window_ns", r.window_ns).add("aggregate_gbs", r.aggregate_gbs);
  j.add_limit("peak_gbs", r.peak_gbs).add("util_pct", r.util_pct());
  j.add("least_gbs", r.least_gbs()).add("most_gbs", r.most_gbs()).add("fairness", r.fairness());
  if (!r.busiest_edge.empty()) j.add("busiest_edge", r.busiest_edge).add("busiest_util", r.busiest_util);
  Json shares('[');
  for (double s : r.shares_gbs) shares.element().raw(fixed(s, kDigits));
  j.key("shares_gbs").raw(shares.close(']'));
  return j.key("checks").raw(checks_json(report.checks, r.name)).close('}');
}

std::string case_json(const Platform& platform, const ProbeReport& report, size_t i) {
  const ProbeResult& r = report.results[i];
  Json j('{');
  j.add("case", r.probe.name).add("target", r.probe.target).add("bytes", r.nbytes);
  for (const ProbeColumn& c : kProbeColumns) j.add(c.name, c.value(r));
  j.add("formula_ns", r.formula_ns).add("op", std::string(name_of_op(r.probe)));
  if (i < report.traces.size()) {
    const ProbeTrace& t = report.traces[i];
    j.key("hops").raw(hops_json(platform.graph(), t)).add("total_ns", t.total_ns);
    j.add_limit("memory_bw_gbs", t.memory_bw_gbs).add("memory_is_bottleneck", t.memory_is_bottleneck);
  }
  if (i < report.sweeps.size()) {
    const ProbeSweep& s = report.sweeps[i];
    const size_t at = s.at_90_pct();
    j.key("sweep").raw(sweep_json(s));
    j.key("bytes_at_90_pct").raw(at < s.points.size() ? std::to_string(s.points[at].nbytes) : "null");
  }
  return j.key("checks").raw(checks_json(report.checks, r.probe.name)).close('}');
}

void write_hops_csv(std::ostream& out, const topology::Graph& g, const ProbeReport& report) {
  out << "case,hop,direction,node,kind,arrive_ns,overhead_ns,store_forward_ns,drain_ns,to,transfer_ns,wire_ns,bw_gbs,"
         "bottleneck\n";
  for (size_t i = 0; i < report.traces.size(); ++i) {
    const auto& hops = report.traces[i].hops;
    for (size_t k = 0; k < hops.size(); ++k) {
      const ProbeHop& h = hops[k];
      out << report.results[i].probe.name << ',' << k << ',' << (h.response ? "response" : "request") << ','
          << g.nodes[h.node].id << ',' << g.nodes[h.node].kind;
      for (double v : {h.arrive_ns, h.overhead_ns, h.store_forward_ns, h.drain_ns}) out << ',' << fixed(v, kDigits);
      if (h.edge == ProbeHop::kNoEdge) {
        out << ",,,,,0\n";
        continue;
      }
      out << ',' << g.nodes[g.edges[h.edge].to].id << ',' << fixed(h.transfer_ns, kDigits) << ','
          << fixed(h.wire_ns, kDigits) << ',' << (h.bw_gbs > 0 ? fixed(h.bw_gbs, kDigits) : "") << ',' << h.bottleneck
          << '\n';
    }
  }
}

void write_sweep_csv(std::ostream& out, const ProbeReport& report) {
  out << "case,target,bytes,actual_ns,eff_bw_gbs,bottleneck_bw_gbs,util_pct,first_at_90_pct\n";
  for (const ProbeSweep& s : report.sweeps) {
    for (size_t i = 0; i < s.points.size(); ++i) {
      const ProbeResult& r = s.points[i];
      out << r.probe.name << ',' << r.probe.target << ',' << r.nbytes;
      for (double v : {r.actual_ns, r.eff_bw_gbs(), r.bottleneck_bw_gbs, r.util_pct()}) out << ',' << fixed(v, kDigits);
      out << ',' << (i == s.at_90_pct()) << '\n';
    }
  }
}

void write_saturation_csv(std::ostream& out, const ProbeReport& report) {
  out << "scenario,target,pes,bytes,reads,window_ns,aggregate_gbs,peak_gbs,util_pct,least_gbs,most_gbs,fairness,"
         "busiest_edge,busiest_util\n";
  for (const SaturationResult& r : report.saturation) {
    out << r.name << ',' << r.target << ',' << r.shares_gbs.size() << ',' << r.nbytes << ',' << r.reads;
    for (double v : {r.window_ns, r.aggregate_gbs, r.peak_gbs, r.util_pct(), r.least_gbs(), r.most_gbs(), r.fairness()})
      out << ',' << fixed(v, kDigits);
    out << ',' << r.busiest_edge << ',' << fixed(r.busiest_util, kDigits) << '\n';
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
    for (const ProbeColumn& c : kProbeColumns) out << ',' << fixed(c.value(r), kDigits);
    out << '\n';
  }
}

void write_probe_json(std::ostream& out, const Platform& platform, const ProbeReport& report) {
  out << "[";
  for (size_t i = 0; i < report.results.size(); ++i) out << (i ? ",\n " : "\n ") << case_json(platform, report, i);
  for (size_t i = 0; i < report.saturation.size(); ++i)
    out << (i ? ",\n " : "\n ") << saturation_json(report, report.saturation[i]);
  out << "\n]\n";
}

}  // namespace kernbench
