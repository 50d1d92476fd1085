// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/store_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/study/sweep/store.h"

namespace kernbench::sweep {
namespace {

using Values = std::map<std::string, std::string>;

struct StoredRun {
  Values values;  // by key of its document
  std::optional<double> sim_ns;
};

std::vector<StoredRun> runs_of(const std::string& file) {
  std::vector<StoredRun> runs;
  for (const PointResult& r : Store::read(file)) {
    if (r.run.empty()) continue;  // it failed before its report, and would fail again
    // As in a run's report.
    const auto ns = r.metrics.find("sim_ns");
    const bool timed = ns != r.metrics.end() && ns->is_number();
    const RunFile run =
        read_run_json("{\"run\": " + r.run + ", \"sim_ns\": " + (timed ? json_text(*ns) : "0") + "}", file);
    runs.push_back({run.configuration, timed ? std::optional(run.sim_ns) : std::nullopt});
  }
  return runs;
}

/// For each key the value that all runs share. Keys with several values, or absent from a run, are omitted.
Values common(const std::vector<StoredRun>& runs) {
  if (runs.empty()) return {};
  Values v = runs.front().values;
  for (auto it = v.begin(); it != v.end();) {
    const bool alike = std::all_of(runs.begin(), runs.end(), [&](const StoredRun& r) {
      const auto found = r.values.find(it->first);
      return found != r.values.end() && found->second == it->second;
    });
    it = alike ? std::next(it) : v.erase(it);
  }
  return v;
}

/// Without the values that all points of a store share.
Values rest(const StoredRun& run, const Values& alike) {
  Values v;
  for (const auto& [key, value] : run.values) {
    if (alike.count(key) == 0) v[key] = value;
  }
  return v;
}

}  // namespace

double StoreDiff::slower() const {
  double most = 0;
  for (const Point& p : changed) most = std::max(most, p.slower());
  return most;
}

StoreDiff diff_stores(const std::string& a, const std::string& b) {
  for (const std::string& file : {a, b}) {
    if (!Store::is_store(file)) throw InputError("diff: " + file + " is no store; expected two of a kind");
  }
  StoreDiff d;
  d.a = a;
  d.b = b;
  const std::vector<StoredRun> of_a = runs_of(a), of_b = runs_of(b);
  d.a_points = of_a.size();
  d.b_points = of_b.size();
  const Values alike_a = common(of_a), alike_b = common(of_b);
  Values apart;  // keys whose common values differ between the stores
  for (const auto& [key, value] : alike_a) {
    const auto in_b = alike_b.find(key);
    const bool some =
        std::any_of(of_b.begin(), of_b.end(), [&, k = key](const StoredRun& r) { return r.values.count(k); });
    if (in_b == alike_b.end() ? some : in_b->second == value) continue;
    d.configuration.push_back({key, value, in_b == alike_b.end() ? "" : in_b->second});
    apart[key];
  }
  for (const auto& [key, value] : alike_b) {
    const bool some =
        std::any_of(of_a.begin(), of_a.end(), [&, k = key](const StoredRun& r) { return r.values.count(k); });
    if (some) continue;
    d.configuration.push_back({key, "", value});
    apart[key];
  }
  std::map<Values, const StoredRun*> points;
  for (const StoredRun& r : of_b) points[rest(r, apart)] = &r;
  for (const StoredRun& r : of_a) {
    const auto it = points.find(rest(r, apart));
    if (it == points.end()) {
      ++d.a_alone;
      continue;
    }
    ++d.both;
    if (r.sim_ns == it->second->sim_ns) continue;
    StoreDiff::Point p{"", r.sim_ns, it->second->sim_ns};
    for (const auto& [key, value] : rest(r, alike_a)) p.name += (p.name.empty() ? "" : " ") + key + "=" + value;
    d.changed.push_back(std::move(p));
  }
  d.b_alone = of_b.size() - std::min(of_b.size(), d.both);
  return d;
}

static void describe(Fields& f, const StoreDiff::Point& p) {
  const std::string shown = p.name.empty() ? "the only one" : cut(p.name);
  f("point", f.is(Fields::Form::text) ? shown : p.name, {"point"})("a_ns", p.a_ns, {"a, ns"});
  f("b_ns", p.b_ns, {"b, ns"})("slower", p.slower(), {"%", 2, 100, true});
}

void describe(Fields& f, const StoreDiff& d) {
  f("a", d.a)("b", d.b)("a_points", d.a_points)("b_points", d.b_points)("slower", d.slower());
  f("configuration", d.configuration)("both", d.both)("a_alone", d.a_alone)("b_alone", d.b_alone)("changed", d.changed);
}

void write_store_diff_text(std::ostream& out, const StoreDiff& d) {
  print_to(out, "a  {}  {} points\nb  {}  {} points\n", d.a, d.a_points, d.b, d.b_points);
  write_settings(out, "configuration", d.configuration);
  print_to(out, "\n  {} points in both, {} of them with another time; {} in a alone, {} in b alone\n", d.both,
           d.changed.size(), d.a_alone, d.b_alone);
  TextFields t(1, 2);
  t.rows(d.changed);
  t.write_below(out);
}

void write_store_diff_json(std::ostream& out, const StoreDiff& d) {
  write_json(out, d);
}

}  // namespace kernbench::sweep
