#include "kernbench/platform/study/what_if/remedies.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/platform/run/child/child_pool.h"

namespace kernbench {
namespace {

constexpr double kSame = 1e-6;  // ns

}  // namespace

std::optional<double> sim_ns_of(int status, const std::string& out) {
  if (status > 1 || out.empty()) return std::nullopt;
  return parse_json<nlohmann::json>(out).at("sim_ns").get<double>();
}

Remedies find_remedies(const spec::RunSpec& run, const std::vector<SingleChange>& changes, unsigned jobs,
                       const std::function<int(const std::vector<std::string>&)>& work,
                       const std::function<void(size_t done, size_t of)>& progress) {
  Remedies found;
  size_t done = 0;
  // The run itself stands in front.
  const auto begin = [&](size_t i) {
    auto words = (i == 0 ? run : changes[i - 1].of(run)).words();
    if (i == 0) words.emplace_back("--explain");
    words.insert(words.end(), {"--format", "json"});
    return work(words);
  };
  run_in_order(changes.size() + 1, processes(jobs), begin, [&](const ChildPool::Ended& r) {
    const std::optional<double> ns = sim_ns_of(r.status, r.out);
    progress(++done, changes.size() + 1);
    if (r.id == 0) {
      if (!ns) throw RunError("the run itself fails: " + r.first_line());
      found.sim_ns = *ns;
      found.verdict = parse_json<nlohmann::json>(r.out).at("insight").at("verdict").get<std::vector<std::string>>();
      return;
    }
    const SingleChange& change = changes[r.id - 1];
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
  print_to(out, "tried        {} single changes: {} faster, {} slower, {} alike, {} not possible\n\n", r.tried,
           r.rows.size(), r.slower, r.same, r.impossible.size());
  if (!r.rows.empty()) out << "  saves %                ns        the first to try, then what saves most\n";
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

}  // namespace kernbench
