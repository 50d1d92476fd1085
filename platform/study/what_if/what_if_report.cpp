// SPDX-License-Identifier: Apache-2.0
// Text and JSON output of what-if studies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/platform/study/what_if/what_if.h"

namespace kernbench::study {
namespace {

/// Relative change of the run's time.
std::string change(const std::optional<double>& ns, double sim_ns) {
  return ns && sim_ns > 0 ? fmt::format("{:+.1f}", 100 * (*ns / sim_ns - 1)) : "-";
}

/// Error of the prediction, if the simulated time is known.
std::string error(const std::optional<double>& predicted, const std::optional<double>& ns) {
  return predicted && ns && *ns > 0 ? fmt::format("{:+.2f}", 100 * (*predicted / *ns - 1)) : "-";
}

void describe_row(Fields& f, const WhatIf::Row& r, double sim_ns) {
  using Form = Fields::Form;
  if (f.is(Form::text)) {
    const auto way = [&](const char* title, const auto& ns, const auto& predicted, double doubt_ns) {
      f("", ns, {title})("", change(ns, sim_ns), {"%"});
      const std::string range = doubt_ns > 0 ? fmt::format(" +/-{:.1f}", 100 * doubt_ns / sim_ns) : "";
      f("", change(predicted, sim_ns) + range, {"predicted %"})("", error(predicted, ns), {"error %"});
    };
    f("", r.title, {""});
    way("x2, ns", r.faster_ns, r.predicted_faster_ns, r.faster_doubt_ns);
    return way("x1/2, ns", r.slower_ns, r.predicted_slower_ns, r.slower_doubt_ns);
  }
  f("part", r.part);
  f.is(Form::csv) ? f("sim_ns", sim_ns) : f("title", r.title);
  f("faster_ns", r.faster_ns)("slower_ns", r.slower_ns)("predicted_faster_ns", r.predicted_faster_ns);
  f("predicted_slower_ns", r.predicted_slower_ns);
  if (f.is(Form::json)) f("faster_doubt_ns", r.faster_doubt_ns)("slower_doubt_ns", r.slower_doubt_ns);
  if (f.is(Form::json)) f.given("fault", r.fault);
}

}  // namespace

void write_what_if_text(std::ostream& out, const WhatIf& w) {
  print_to(out, "the run      {:.3f} ns\n", w.sim_ns);
  for (const std::string& s : w.verdict) out << "             " << s << "\n";
  TextFields t(1);
  t.head([&] { describe_row(t, {}, w.sim_ns); });
  std::string without;  // parts without effect
  for (const WhatIf::Row& r : w.rows) {
    if (r.changes_nothing(w.sim_ns)) {
      without += (without.empty() ? "" : ", ") + r.title;
    } else {
      t.row([&] { describe_row(t, r, w.sim_ns); });
    }
  }
  t.write_below(out);
  const auto other_order = [](const WhatIf::Row& r) { return r.faster_doubt_ns > 0 || r.slower_doubt_ns > 0; };
  if (std::any_of(w.rows.begin(), w.rows.end(), other_order))
    out << "+/- the order at a server, or waits for room in buffers, may change; the prediction keeps those of the "
           "run\n";
  if (!without.empty()) out << "no effect: " << without << "\n";
  for (const WhatIf::Row& r : w.rows) {
    if (!r.fault.empty()) out << r.part << ": " << r.fault << "\n";
  }
}

void write_what_if_csv(std::ostream& out, const WhatIf& w) {
  CsvFields csv(out);
  csv.head([&] { describe_row(csv, {}, w.sim_ns); });
  csv.rows(w.rows, [&](const WhatIf::Row& r) { describe_row(csv, r, w.sim_ns); });
}

void write_what_if_json(std::ostream& out, const WhatIf& w) {
  write_json(out, [&](Fields& f) {
    f("sim_ns", w.sim_ns)("verdict", w.verdict);
    f.each("parts", w.rows, [&](const WhatIf::Row& r) { describe_row(f, r, w.sim_ns); });
  });
}

void write_what_if_svg(std::ostream& out, const WhatIf& w) {
  constexpr double kLabel = 400, kPlot = 560, kRow = 22, kTop = 46, kEnd = 70;
  double widest = 0.01;
  std::vector<WhatIf::Row> rows;
  for (const WhatIf::Row& r : w.rows) {
    if (r.changes_nothing(w.sim_ns)) continue;
    rows.push_back(r);
    for (const auto& ns : {r.faster_ns, r.slower_ns}) {
      if (ns) widest = std::max(widest, std::abs(*ns / w.sim_ns - 1));
    }
  }
  const double middle = kLabel + kPlot / 2, scale = kPlot / 2 / widest;
  const double height = kTop + kRow * static_cast<double>(rows.size()) + 14;
  print_to(out,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" font-family=\"sans-serif\" "
           "font-size=\"12\">\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"white\"/>\n"
           "<text x=\"{2:g}\" y=\"16\" text-anchor=\"middle\">{3:.3f} ns; twice as fast (dark), half as fast (light): "
           "change in %</text>\n",
           kLabel + kPlot + kEnd, height, middle, w.sim_ns);
  for (size_t i = 0; i < rows.size(); ++i) {
    const WhatIf::Row& r = rows[i];
    const double y = kTop + kRow * static_cast<double>(i);
    print_to(out, "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\">{}</text>\n", kLabel - 50, y + 13, r.title);
    const auto bar = [&](const std::optional<double>& ns, const char* colour) {
      if (!ns || std::abs(*ns / w.sim_ns - 1) < 5e-4) return;
      const double change = *ns / w.sim_ns - 1, length = change * scale;
      print_to(out, "<rect x=\"{:.2f}\" y=\"{:g}\" width=\"{:.2f}\" height=\"16\" fill=\"{}\"/>\n",
               middle + std::min(0.0, length), y, std::max(0.5, std::abs(length)), colour);
      print_to(out, "<text x=\"{:.2f}\" y=\"{:g}\" text-anchor=\"{}\">{:+.1f}</text>\n",
               middle + length + (length < 0 ? -4 : 4), y + 13, length < 0 ? "end" : "start", 100 * change);
    };
    bar(r.slower_ns, "#b9c4d6");
    bar(r.faster_ns, "#1f4e8c");
  }
  print_to(out, "<line x1=\"{0:g}\" x2=\"{0:g}\" y1=\"{1:g}\" y2=\"{2:g}\" stroke=\"black\"/>\n</svg>\n", middle,
           kTop - 6, height - 6);
}

}  // namespace kernbench::study
