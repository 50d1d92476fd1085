// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/what_if/remedies.h"

#include <algorithm>
#include <ostream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/print.h"

namespace kernbench::study {
namespace {

constexpr double kSame = 1e-6;  // ns

}  // namespace

double whole_ns_of(const RunRecord& r) {
  const double whole = r.number("whole_ns");
  return whole > 0 ? whole : r.number("sim_ns");
}

std::optional<double> sim_ns_of(const RunRecord& r) {
  return r.faults.empty() ? std::optional(whole_ns_of(r)) : std::nullopt;
}

Remedies find_remedies(const spec::RunSpec& run, const std::vector<SingleChange>& changes, unsigned jobs,
                       const RunEach& run_each, const std::function<void(size_t done, size_t of)>& progress) {
  Remedies found;
  size_t done = 0;
  std::vector<spec::RunSpec> specs = {run};  // the first is the run itself
  specs[0].set("explain", "true");
  for (const SingleChange& c : changes) specs.push_back(c.of(run));
  run_each(specs, jobs, [&](size_t i, const RunRecord& r) {
    const std::optional<double> ns = sim_ns_of(r);
    progress(++done, specs.size());
    if (i == 0) {
      if (!ns) throw RunError("the run itself fails: " + r.first_line());
      found.sim_ns = *ns;
      found.verdict = r.verdict;
      return;
    }
    const SingleChange& change = changes[i - 1];
    ++found.tried;
    if (!ns) {
      found.impossible.emplace_back(change.words(), r.first_line());
      return;
    }
    if (*ns < found.sim_ns - kSame) {
      found.rows.push_back({change.words(), change.cost, *ns});
    } else {
      ++(*ns > found.sim_ns + kSame ? found.slower : found.same);
    }
  });
  order_remedies(
      found.rows, found.sim_ns, [](const Remedies::Row& r) { return r.ns; },
      [](const Remedies::Row& r) { return r.cost; });
  return found;
}

void write_remedies_text(std::ostream& out, const Remedies& r) {
  constexpr size_t kShown = 12;
  print_to(out, "the run      {:.3f} ns\n", r.sim_ns);
  for (const std::string& s : r.verdict) out << "             " << s << "\n";
  print_to(out, "tried        {} single changes: {} faster, {} slower, {} equal, {} not possible\n\n", r.tried,
           r.rows.size(), r.slower, r.same, r.impossible.size());
  if (!r.rows.empty()) out << "  saves %                ns        the first to try, then by savings\n";
  for (size_t i = 0; i < std::min(kShown, r.rows.size()); ++i) {
    const Remedies::Row& row = r.rows[i];
    print_to(out, "{:9.1f} {:17.3f}  {:4}  {}\n", 100 * r.saved(row), row.ns, row.free() ? "free" : "", row.change);
  }
  if (r.rows.size() > kShown) print_to(out, "{} more; --format csv and json have all\n", r.rows.size() - kShown);
}

void write_remedies_csv(std::ostream& out, const Remedies& r) {
  CsvFields csv(out);
  const auto row = [&](const Remedies::Row& x) {
    std::string quoted = x.change;
    for (size_t at = 0; (at = quoted.find('"', at)) != std::string::npos; at += 2) quoted.insert(at, 1, '"');
    csv("saved", r.saved(x))("ns", x.ns)("free", x.free() ? 1 : 0)("change", RawJson{'"' + quoted + '"'});
  };
  csv.head([&] { row({}); });
  csv.rows(r.rows, row);
}

void write_remedies_json(std::ostream& out, const Remedies& r) {
  write_json(out, [&](Fields& f) {
    f("sim_ns", r.sim_ns)("verdict", r.verdict)("tried", r.tried)("slower", r.slower)("same", r.same);
    f.each("remedies", r.rows, [&](const Remedies::Row& row) {
      f("change", row.change)("free", row.free())("cost", static_cast<int>(row.cost))("ns", row.ns);
      f("saved", r.saved(row));
    });
    f.each("impossible", r.impossible, [&](const auto& i) { f("change", i.first)("fault", i.second); });
  });
}

}  // namespace kernbench::study
