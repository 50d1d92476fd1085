// SPDX-License-Identifier: Apache-2.0
// Text and JSON output of an Insight.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/insight/insight.h"

namespace kernbench::insight {
namespace {

// For text; JSON has all.
constexpr size_t kRows = 5;  ///< rows per table
constexpr size_t kRemedies = 3;
constexpr Shown kPercent = {"%", 1, 100};

std::string percentage(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

void write_path_table(std::ostream& out, const Insight& r) {
  std::vector<size_t> order;
  for (size_t i = 0; i < kResources; ++i) {
    if (r.by_resource[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return r.by_resource[a] > r.by_resource[b]; });
  TextFields t(1, 2);
  t.rows(order, [&](size_t i) {
    const auto part = static_cast<Resource>(i);
    const auto most = std::find_if(r.by_component.begin(), r.by_component.end(),
                                   [&](const Insight::Share& s) { return s.resource == part; });
    t("", title_of(r, part), {"critical path"})("", r.by_resource[i], {"ns"})("", r.by_resource[i] / r.sim_ns,
                                                                              kPercent);
    t("", r.saved(part) > 0 ? percentage(r.saved(part)) : "-", {"x2 saves %"});
    t("", most->name.empty() ? "" : most->name + " " + percentage(most->ns / r.sim_ns), {"most at, %"});
  });
  t.write_below(out);
}

/// Omitted if there is only one.
void write_shares(std::ostream& out, const char* title, const std::vector<Insight::Share>& shares, double sim_ns) {
  if (shares.size() < 2) return;
  TextFields t(1, 2);
  const auto row = [&](const Insight::Share& s) {
    t("", s.name.empty() ? "(no op)" : s.name, {title})("", s.ns, {"ns"})("", s.ns / sim_ns, kPercent);
  };
  t.rows(shares, row, kRows);
  t.write_below(out);
}

/// The fullest memory of each kind, if it is more than 1 % full.
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
  const std::string heading = fmt::format("{}, {} of {}", title, std::min(kRows, rows.size()), rows.size());
  TextFields t(1, 2, heading);
  const auto row = [&](const Insight::Row& r) {
    const auto limited = [&](double v) { return r.gbs_most > 0 ? std::optional(v) : std::nullopt; };
    t("", r.name, {""})("", limited(r.share), {share, 1, 100})("", r.bytes, {"bytes"});
    t("", limited(r.share * r.gbs_most), {"GB/s", 2})("", limited(r.gbs_most), {"of GB/s", 2});
  };
  t.rows(rows, row, kRows);
  t.write_below(out);
}

/// "hbm=2,mesh=0.5"
std::string to_string(const std::vector<std::pair<Resource, double>>& faster) {
  std::string text;
  for (const auto& [part, factor] : faster)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name_of(part), factor);
  return text;
}

}  // namespace

static void describe(Fields& f, const Insight::Row& r) {
  f("name", r.name)("resource", r.resource)("bytes", r.bytes)("gbs_most", r.gbs_most)("share", r.share);
}
static void describe(Fields& f, const Insight::Work& w) {
  f("of", w.of, {"work of"})("all", w.all, {"all"})("without", w.idle, {"without"})("least", w.least, {"least", 0});
  f("median", w.median, {"median", 0})("most", w.most, {"most", 0})("gini", w.gini, {"Gini", 2});
}
static void describe(Fields& f, const Insight::Capacity& c) {
  f("memory", c.memory)("space", c.space)("most_bytes", c.most)("bytes", c.bytes)("share", c.share())("near", c.near());
}
static void describe(Fields& f, const Insight::Step& s) {
  f("from_ns", s.from_ns)("to_ns", s.to_ns)("resource", s.resource)("at", s.holder)("pe", s.pe)("op", s.op);
  f("line", s.line);
}
static void describe(Fields& f, const Insight::Unlimited& u) {
  f("limit", u.limit)("ns", u.ns)("other_order", u.other_order);
}
static void describe(Fields& f, const Insight::Predicted& p) {
  f("scale", [&] {
    for (const auto& [part, factor] : p.faster) f(name_of(part), factor);
  });
  f("ns", p.ns)("other_order", p.doubt_ns > 0)("doubt_ns", p.doubt_ns);
}
static void describe(Fields& f, const Insight::Remedy& m) {
  f("change", m.change)("free", m.cost == CostClass::free)("cost", static_cast<int>(m.cost));
  f("predicted_ns", m.predicted_ns)("about", !m.doubt.empty());
  f.given("doubt", m.doubt);
  m.ns ? f("ns", *m.ns) : f("fault", m.fault);
}
static void describe(Fields& f, const Insight::Spread& s) {
  f("first", s.first)("first_ns", s.first_ns)("median", s.median)("median_ns", s.median_ns)("last", s.last);
  f("last_ns", s.last_ns)("near_last", s.near_last)("pes", s.all)("working", s.working);
}

void describe(Fields& f, const Insight& r) {
  const auto by_resource = [&](const auto& each) {
    return [&f, each] {
      for (size_t i = 0; i < kResources; ++i) each(name_of(static_cast<Resource>(i)), i);
    };
  };
  const auto shares = [&](const char* name, const std::vector<Insight::Share>& all, bool with_resource) {
    f.each(name, all, [&](const Insight::Share& s) {
      f("name", s.name);
      if (with_resource) f("resource", s.resource);
      f("ns", s.ns);
    });
  };
  f("verdict", r.verdict)("bound", r.bound)("bound_by", r.bound_by)("next", r.next);
  f("saved_by_bound", r.saved_by_bound)("what_if", by_resource([&](std::string_view part, size_t i) {
                                          f(part, [&] {
                                            f("faster_ns", r.faster_ns[i])("faster_doubt_ns", r.faster_doubt_ns[i]);
                                            f("slower_ns", r.slower_ns[i])("slower_doubt_ns", r.slower_doubt_ns[i]);
                                          });
                                        }));
  f.given("predicted", r.predicted)("without_limit", r.unlimited)("remedies", r.remedies)("peaks", [&] {
    f("gemm", r.gemm_peak)("math_busy", r.math_busy)("hbm", r.hbm_peak);
    f("link", r.links.empty() ? 0.0 : r.links.front().share);
  });
  f("roofline", [&] {
    f("flops", r.flops)("hbm_bytes", r.hbm_bytes)("flop_per_byte", r.flop_per_byte);
    f("gemm_tflops_most", r.gemm_tflops_most)("hbm_gbs_most", r.hbm_gbs_most)("tflops_most", r.roofline_tflops);
  });
  f("blame_ns", by_resource([&](std::string_view part, size_t i) { f(part, r.by_resource[i]); }));
  shares("components", r.by_component, true);
  shares("lines", r.by_line, false);
  shares("ranks", r.by_rank, false);
  shares("launches", r.by_launch, false);
  f("pes_end", r.pes)("work", r.work)("capacity", r.capacity);
  f("issue", [&] { f("mean_ns", r.issue_ns_mean)("most_ns", r.issue_ns_most); });
  f("links", r.links)("memories", r.memories)("channels", r.channels)("causes", [&] {
    f("moments", r.moments)("bytes", r.graph_bytes)("unexplained_ns", r.unexplained_ns);
    f("contradictions", r.contradictions);
  });
  f("critical_path", r.path);
}

void write_insight_text(std::ostream& out, const Insight& r) {
  for (size_t i = 0; i < r.verdict.size(); ++i)
    out << (i == 0 ? "\n  verdict      " : "               ") << r.verdict[i] << "\n";
  for (const Insight::Predicted& p : r.predicted) {
    const auto saves = [&](double ns) {
      const double percent = 100 * (1 - ns / r.sim_ns);
      return std::abs(percent) < 0.05 ? 0 : percent;
    };
    print_to(out, "{}{}: {:.3f} ns, saves {:.1f} %{}\n",
             &p == r.predicted.data() ? "  predict      " : "               ", to_string(p.faster), p.ns, saves(p.ns),
             p.doubt_ns > 0 ? fmt::format(" ({:.1f} to {:.1f}: an order or wait may change)", saves(p.ns + p.doubt_ns),
                                          saves(p.ns - p.doubt_ns))
                            : "");
  }
  for (size_t i = 0; i < std::min(kRemedies, r.remedies.size()); ++i) {
    const Insight::Remedy& m = r.remedies[i];
    const auto saves = [&](double ns) { return fmt::format("{:.1f} %", 100 * (1 - ns / r.sim_ns)); };
    print_to(out, "{}{} predicted to save {}{}, simulated {}{}\n", i == 0 ? "  try          " : "               ",
             m.change, saves(m.predicted_ns), m.doubt.empty() ? "" : " (" + m.doubt + ")",
             m.ns ? saves(*m.ns) : m.fault, m.cost == CostClass::free ? "; free" : "");
  }
  if (r.roofline_tflops > 0) {
    print_to(
        out,
        "  roofline     {:.2f} FLOP a byte of HBM: {:.3f} of {:.3f} TFLOP/s that GEMM ({:.3f}) and HBM ({:.2f} GB/s) "
        "allow, {} %\n",
        r.flop_per_byte, r.flops / r.run_ns / 1e3, r.roofline_tflops, r.gemm_tflops_most, r.hbm_gbs_most,
        percentage(r.flops / r.run_ns / 1e3 / r.roofline_tflops));
  }
  if (!r.pes.last.empty()) {
    print_to(out, "  PEs end      {:.3f} ns ({}), median {:.3f} ({}), {:.3f} ({}); {} within 1 % of the run\n",
             r.pes.first_ns, r.pes.first, r.pes.median_ns, r.pes.median, r.pes.last_ns, r.pes.last, r.pes.near_last);
    print_to(out, "  issue        {:.3f} ns a PE in pe_cpu, most {:.3f} ns\n", r.issue_ns_mean, r.issue_ns_most);
  }
  write_capacity(out, r.capacity);
  write_path_table(out, r);
  write_shares(out, "source lines on it", r.by_line, r.sim_ns);
  if (r.by_rank.size() > 2) write_shares(out, "ranks on it", r.by_rank, r.sim_ns);  // two ranks, and time without one
  write_shares(out, "launches on it", r.by_launch, r.sim_ns);
  TextFields work(1, 2);
  work.rows(r.work);
  work.write_below(out);
  write_rows(out, "links", r.links, "data %");
  write_rows(out, "memories", r.memories, "data %");
  write_rows(out, "channels", r.channels, "held %");
}

}  // namespace kernbench::insight
