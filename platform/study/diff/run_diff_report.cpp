// SPDX-License-Identifier: Apache-2.0
// Text and JSON output of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ostream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/run/record/figures.h"
#include "kernbench/platform/study/diff/run_diff.h"

namespace kernbench::study {

namespace {

constexpr size_t kRows = 8;  ///< rows per table in text; JSON has all

std::string span(const std::optional<std::pair<double, double>>& ns) {
  return ns ? fmt::format("{:.3f} to {:.3f} ns", ns->first, ns->second) : "not there";
}

std::string where(const RunDiff::OpChange& c) {
  return fmt::format("{} op {} {}{}", c.pe, c.seq, c.name, c.line.empty() ? "" : " at " + c.line);
}

std::string cut_or_dash(const std::string& s) {
  return s.empty() ? "-" : cut(s);
}

/// The significant digits of a fraction; a share in percent.
std::string figure(const std::string& name, const std::string& s) {
  double v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || end != s.data() + s.size()) return s;
  const double in_text = std::get<double>(shown(name, v));
  return in_text != v || s.find('.') != std::string::npos ? fmt::format("{:.6g}", in_text) : s;
}

}  // namespace

void describe(Fields& f, const RunDiff::Setting& s) {
  f("key", s.key)("a", s.a)("b", s.b);
}
static void describe(Fields& f, const RunDiff::Change& c) {
  f("name", c.name, {""})("a_ns", c.a_ns, {"a, ns"})("b_ns", c.b_ns, {"b, ns"})("by_ns", c.by(),
                                                                                {"by, ns", 3, 1, true});
}
static void describe(Fields& f, const RunDiff::OpChange& c) {
  f("pe", c.pe)("seq", c.seq)("op", c.name)("line", c.line);
  for (const auto& [key, ns] : {std::pair("a", &c.a_ns), std::pair("b", &c.b_ns)}) {
    if (const auto& times = *ns) {
      f(key, [&] { f("start_ns", times->first)("end_ns", times->second); });
    } else {
      f(key, std::nullopt);
    }
  }
}

void describe(Fields& f, const RunDiff& d) {
  f("a", d.a)("b", d.b);
  if (d.a_partial || d.b_partial) f("a_partial", d.a_partial)("b_partial", d.b_partial);
  f("a_ns", d.a_ns)("b_ns", d.b_ns)("slower", d.slower())("configuration", d.configuration)("figures", d.figures);
  f("blame", d.blame)("engines", d.engines)("ops", d.ops)("ops_that_differ", d.ops_that_differ);
  f.given("first", d.first)("longest", d.longest);
}

void write_diff_json(std::ostream& out, const RunDiff& d) {
  write_json(out, d);
}

std::vector<RunDiff::Setting> figures_in_text(const RunDiff& d) {
  std::vector<RunDiff::Setting> all = d.figures;
  for (RunDiff::Setting& s : all) s = {title_of(s.key), figure(s.key, s.a), figure(s.key, s.b)};
  return all;
}

void write_settings(std::ostream& out, const char* title, const std::vector<RunDiff::Setting>& settings) {
  TextFields t(3, 2, title);
  t.rows(settings, [&](const RunDiff::Setting& s) {
    t("", s.key, {""})("", cut_or_dash(s.a), {"a"})("", cut_or_dash(s.b), {"b"});
  });
  t.write_below(out);
}

void write_diff_text(std::ostream& out, const RunDiff& d) {
  const auto mark = [](bool partial) { return partial ? "  UNFINISHED" : ""; };
  print_to(out, "a  {}  {:.3f} ns{}\nb  {}  {:.3f} ns{}  {:+.3f} ns, {:+.2f} %\n", d.a, d.a_ns, mark(d.a_partial), d.b,
           d.b_ns, mark(d.b_partial), d.b_ns - d.a_ns, 100 * d.slower());
  write_settings(out, "configuration", d.configuration);
  write_settings(out, "figure", figures_in_text(d));
  for (const auto& [title, changes] : {std::pair("critical path", &d.blame), {"engines busy", &d.engines}}) {
    TextFields t(1, 2, title);
    t.rows(*changes, kRows);
    t.write_below(out);
    if (changes->size() > kRows) print_to(out, "  and {} more\n", changes->size() - kRows);
  }
  if (d.ops > 0) {
    print_to(out, "\n  {} of {} ops differ\n", grouped(d.ops_that_differ), grouped(d.ops));
    if (d.first)
      print_to(out, "  first        {}: {}; {}\n", where(*d.first), span(d.first->a_ns), span(d.first->b_ns));
    for (const RunDiff::OpChange& c : d.longest) {
      print_to(out, "  {:+.3f} ns    {}\n", (c.b_ns->second - c.b_ns->first) - (c.a_ns->second - c.a_ns->first),
               where(c));
    }
  }
}

}  // namespace kernbench::study
