// What an Insight says, for people and for tools.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/table.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/insight/insight.h"

namespace kernbench::insight {
namespace {

// For people; JSON has all.
constexpr size_t kRows = 5;  ///< of each table
constexpr size_t kRemedies = 3;

std::string percentage(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

void write_path_table(std::ostream& out, const Insight& r) {
  std::vector<size_t> order;
  for (size_t i = 0; i < kResources; ++i) {
    if (r.by_resource[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return r.by_resource[a] > r.by_resource[b]; });
  TextTable t(1, 2);
  t.add({"critical path", "ns", "%", "x2 saves %", "most at, %"});
  for (const size_t i : order) {
    const auto most = std::find_if(r.by_component.begin(), r.by_component.end(),
                                   [&](const Insight::Share& s) { return s.resource == static_cast<Resource>(i); });
    t.add({title_of(r, static_cast<Resource>(i)), fmt::format("{:.3f}", r.by_resource[i]),
           percentage(r.by_resource[i] / r.sim_ns),
           r.saved(static_cast<Resource>(i)) > 0 ? percentage(r.saved(static_cast<Resource>(i))) : "-",
           most->name.empty() ? "" : fmt::format("{} {}", most->name, percentage(most->ns / r.sim_ns))});
  }
  out << "\n" << t.text();
}

void write_work(std::ostream& out, const std::vector<Insight::Work>& work) {
  if (work.empty()) return;
  TextTable t(1, 2);
  t.add({"work of", "all", "without", "least", "median", "most", "Gini"});
  for (const Insight::Work& w : work) {
    t.add({w.of, std::to_string(w.all), std::to_string(w.idle), fmt::format("{:.0f}", w.least),
           fmt::format("{:.0f}", w.median), fmt::format("{:.0f}", w.most), fmt::format("{:.2f}", w.gini)});
  }
  out << "\n" << t.text();
}

/// Nothing where there is but one.
void write_shares(std::ostream& out, const char* title, const std::vector<Insight::Share>& shares, double sim_ns) {
  if (shares.size() < 2) return;
  TextTable t(1, 2);
  t.add({title, "ns", "%"});
  for (size_t i = 0; i < std::min(kRows, shares.size()); ++i) {
    const Insight::Share& s = shares[i];
    t.add({s.name.empty() ? "(no op)" : s.name, fmt::format("{:.3f}", s.ns), percentage(s.ns / sim_ns)});
  }
  out << "\n" << t.text();
}

/// The fullest of each space, where more than a hundredth is taken.
void write_capacity(std::ostream& out, const std::vector<Insight::Capacity>& all) {
  const char* title = "  full         ";
  for (const auto& [space, name] : {std::pair("hbm", "HBM"), {"tcm", "TCM"}}) {
    const auto fullest = std::find_if(all.begin(), all.end(), [s = space](const auto& c) { return c.space == s; });
    if (fullest == all.end() || fullest->share() < 0.01) continue;
    print_to(out, "{}{} at most {} %: {} of {} bytes at {}\n", title, name, percentage(fullest->share()),
             grouped(fullest->most), grouped(fullest->bytes), fullest->memory);
    title = "               ";
  }
}

void write_rows(std::ostream& out, const char* title, const std::vector<Insight::Row>& rows, const char* share) {
  if (rows.empty()) return;
  TextTable t(1, 2);
  t.add({fmt::format("{}, {} of {}", title, std::min(kRows, rows.size()), rows.size()), share, "bytes", "GB/s",
         "of GB/s"});
  for (size_t i = 0; i < std::min(kRows, rows.size()); ++i) {
    const Insight::Row& row = rows[i];
    const bool limits = row.gbs_most > 0;
    t.add({row.name, limits ? percentage(row.share) : "-", std::to_string(row.bytes),
           limits ? fmt::format("{:.2f}", row.share * row.gbs_most) : "-",
           limits ? fmt::format("{:.2f}", row.gbs_most) : "-"});
  }
  out << "\n" << t.text();
}

/// "hbm=2,mesh=0.5"
std::string to_string(const std::vector<std::pair<Resource, double>>& faster) {
  std::string text;
  for (const auto& [part, factor] : faster)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name_of(part), factor);
  return text;
}

}  // namespace

void write_insight_text(std::ostream& out, const Insight& r) {
  for (size_t i = 0; i < r.verdict.size(); ++i)
    out << (i == 0 ? "\n  verdict      " : "               ") << r.verdict[i] << "\n";
  for (const Insight::Predicted& p : r.predicted) {
    const double saves = 100 * (1 - p.ns / r.sim_ns);
    print_to(out, "{}{}: {}{:.3f} ns, saves {:.1f} %\n",
             &p == r.predicted.data() ? "  predict      " : "               ", to_string(p.faster),
             p.other_order ? "~" : "", p.ns, std::abs(saves) < 0.05 ? 0 : saves);
  }
  for (size_t i = 0; i < std::min(kRemedies, r.remedies.size()); ++i) {
    const Insight::Remedy& m = r.remedies[i];
    const auto saves = [&](double ns) { return fmt::format("{:.1f} %", 100 * (1 - ns / r.sim_ns)); };
    print_to(out, "{}{} predicted to save {}{}, simulated {}{}\n", i == 0 ? "  try          " : "               ",
             m.change, m.about ? "~" : "", saves(m.predicted_ns), m.ns ? saves(*m.ns) : m.fault,
             m.cost == CostClass::free ? "; free" : "");
  }
  if (r.roofline_tflops > 0) {
    print_to(
        out,
        "  roofline     {:.2f} FLOP a byte of HBM: {:.3f} of {:.3f} TFLOP/s that GEMM ({:.3f}) and HBM ({:.2f} GB/s) "
        "allow, {} %\n",
        r.flop_per_byte, r.flops / r.sim_ns / 1e3, r.roofline_tflops, r.gemm_tflops_most, r.hbm_gbs_most,
        percentage(r.flops / r.sim_ns / 1e3 / r.roofline_tflops));
  }
  if (!r.pes.last.empty()) {
    print_to(out, "  PEs end      {:.3f} ns ({}), median {:.3f} ({}), {:.3f} ({}); {} within 1 % of the run\n",
             r.pes.first_ns, r.pes.first, r.pes.median_ns, r.pes.median, r.pes.last_ns, r.pes.last, r.pes.near_last);
    print_to(out, "  issue        {:.3f} ns a PE in pe_cpu, most {:.3f} ns\n", r.issue_ns_mean, r.issue_ns_most);
  }
  write_capacity(out, r.capacity);
  write_path_table(out, r);
  write_shares(out, "source lines on it", r.by_line, r.sim_ns);
  if (r.by_rank.size() > 2) write_shares(out, "ranks on it", r.by_rank, r.sim_ns);  // and what is of none
  write_shares(out, "launches on it", r.by_launch, r.sim_ns);
  write_work(out, r.work);
  write_rows(out, "links", r.links, "data %");
  write_rows(out, "memories", r.memories, "data %");
  write_rows(out, "channels", r.channels, "held %");
}

namespace {

void write_rows_json(JsonWriter& w, const char* name, const std::vector<Insight::Row>& rows) {
  w.key(name).open('[');
  for (const Insight::Row& r : rows) {
    w.open('{').field("name", r.name).field("resource", name_of(r.resource)).field("bytes", r.bytes);
    w.field("gbs_most", r.gbs_most).field("share", r.share).close('}');
  }
  w.close(']');
}

void write_shares(JsonWriter& w, const char* name, const std::vector<Insight::Share>& shares, bool with_resource) {
  w.key(name).open('[');
  for (const Insight::Share& s : shares) {
    w.open('{').field("name", s.name);
    if (with_resource) w.field("resource", name_of(s.resource));
    w.field("ns", s.ns).close('}');
  }
  w.close(']');
}

void write_predicted(JsonWriter& w, const Insight& r) {
  w.open('[');
  for (const Insight::Predicted& p : r.predicted) {
    w.open('{').key("scale").open('{');
    for (const auto& [part, factor] : p.faster) w.field(std::string(name_of(part)), factor);
    w.close('}').field("ns", p.ns).field("other_order", p.other_order).close('}');
  }
  w.close(']');
}

}  // namespace

void write_insight_json(JsonWriter& w, const Insight& r) {
  w.open('{').field("verdict", r.verdict).field("bound", name_of(r.bound));
  w.key("bound_by").open('[');
  for (const Resource x : r.bound_by) w.value(name_of(x));
  w.close(']').field("next", name_of(r.next)).field("saved_by_bound", r.saved_by_bound);
  w.key("what_if").open('{');
  for (size_t i = 0; i < kResources; ++i) {
    w.key(std::string(name_of(static_cast<Resource>(i)))).open('{');
    w.field("faster_ns", r.faster_ns[i]).field("slower_ns", r.slower_ns[i]);
    w.field("faster_other_order", r.faster_other_order[i])
        .field("slower_other_order", r.slower_other_order[i])
        .close('}');
  }
  w.close('}');
  if (!r.predicted.empty()) write_predicted(w.key("predicted"), r);
  w.key("without_limit").open('[');
  for (const Insight::Unlimited& u : r.unlimited)
    w.open('{').field("limit", name_of(u.limit)).field("ns", u.ns).field("other_order", u.other_order).close('}');
  w.close(']');
  w.key("remedies").open('[');
  for (const Insight::Remedy& m : r.remedies) {
    w.open('{')
        .field("change", m.change)
        .field("free", m.cost == CostClass::free)
        .field("cost", static_cast<int>(m.cost));
    w.field("predicted_ns", m.predicted_ns);
    w.field("about", m.about);
    m.ns ? w.field("ns", *m.ns) : w.field("fault", m.fault);
    w.close('}');
  }
  w.close(']');
  w.key("peaks").open('{').field("gemm", r.gemm_peak).field("math_busy", r.math_busy).field("hbm", r.hbm_peak);
  w.field("link", r.links.empty() ? 0.0 : r.links.front().share).close('}');
  w.key("roofline").open('{').field("flops", r.flops).field("hbm_bytes", r.hbm_bytes);
  w.field("flop_per_byte", r.flop_per_byte).field("gemm_tflops_most", r.gemm_tflops_most);
  w.field("hbm_gbs_most", r.hbm_gbs_most).field("tflops_most", r.roofline_tflops).close('}');
  w.key("blame_ns").open('{');
  for (size_t i = 0; i < kResources; ++i) w.field(std::string(name_of(static_cast<Resource>(i))), r.by_resource[i]);
  w.close('}');
  write_shares(w, "components", r.by_component, true);
  write_shares(w, "lines", r.by_line, false);
  write_shares(w, "ranks", r.by_rank, false);
  write_shares(w, "launches", r.by_launch, false);
  w.key("pes_end")
      .open('{')
      .field("first", r.pes.first)
      .field("first_ns", r.pes.first_ns)
      .field("median", r.pes.median);
  w.field("median_ns", r.pes.median_ns).field("last", r.pes.last).field("last_ns", r.pes.last_ns);
  w.field("near_last", r.pes.near_last).field("pes", r.pes.all).field("working", r.pes.working).close('}');
  w.key("work").open('[');
  for (const Insight::Work& x : r.work) {
    w.open('{').field("of", x.of).field("all", x.all).field("without", x.idle).field("least", x.least);
    w.field("median", x.median).field("most", x.most).field("gini", x.gini).close('}');
  }
  w.close(']');
  w.key("capacity").open('[');
  for (const Insight::Capacity& c : r.capacity) {
    w.open('{').field("memory", c.memory).field("space", c.space).field("most_bytes", c.most).field("bytes", c.bytes);
    w.field("share", c.share()).field("near", c.near()).close('}');
  }
  w.close(']');
  w.key("issue").open('{').field("mean_ns", r.issue_ns_mean).field("most_ns", r.issue_ns_most).close('}');
  write_rows_json(w, "links", r.links);
  write_rows_json(w, "memories", r.memories);
  write_rows_json(w, "channels", r.channels);
  w.key("causes").open('{').field("moments", r.moments).field("bytes", r.graph_bytes);
  w.field("unexplained_ns", r.unexplained_ns).field("contradictions", r.contradictions).close('}');
  w.key("critical_path").open('[');
  for (const Insight::Step& s : r.path) {
    w.open('{').field("from_ns", s.from_ns).field("to_ns", s.to_ns).field("resource", name_of(s.resource));
    w.field("at", s.holder).field("pe", s.pe).field("op", s.op).field("line", s.line).close('}');
  }
  w.close(']').close('}');
}

}  // namespace kernbench::insight
