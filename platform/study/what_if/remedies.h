// SPDX-License-Identifier: Apache-2.0
// `kernbench whatif --remedies`: what a user could change about a run, one thing at a time, each simulated in a process
// of its own, and by how much the run is faster.
#pragma once

#include <algorithm>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/run/record/record.h"
#include "kernbench/platform/study/what_if/single_changes.h"

namespace kernbench::study {

struct Remedies {
  /// Saved shares that differ by less are as good as each other: what costs least goes first.
  static constexpr double kAsGood = 0.05;

  struct Row {
    std::string change;  ///< "--set 'sip*.cube*.pe*.pe_tcm.reserved_mb=2'"
    CostClass cost = CostClass::free;
    bool free() const { return cost == CostClass::free; }
    double ns = 0;
  };
  double sim_ns = 0;
  std::vector<std::string> verdict;
  /// Those that make the run faster: the one to try first, then what saves most first.
  std::vector<Row> rows;
  size_t tried = 0, same = 0, slower = 0;
  std::vector<std::pair<std::string, std::string>> impossible;  ///< change, first line of why
  double saved(const Row& r) const { return sim_ns > 0 ? 1 - r.ns / sim_ns : 0; }
};

/// `jobs`: processes at a time, 0: one a processor. RunError where the run itself fails, with what it said.
Remedies find_remedies(const spec::RunSpec&, const std::vector<SingleChange>&, unsigned jobs, const RunEach& run_each,
                       const std::function<void(size_t done, size_t of)>& progress);

/// The run's time, with the layers that --repeat does not simulate. ns.
double whole_ns_of(const RunRecord&);
/// The same; nothing of a run that came to no report.
std::optional<double> sim_ns_of(const RunRecord&);

/// Puts rows in the order of ns_of(row). Of those that save as much as the first one, as far as kAsGood, the one that
/// costs least goes first.
template <class Row, class Ns, class Cost>
void order_remedies(std::vector<Row>& rows, double sim_ns, const Ns& ns_of, const Cost& cost_of) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return ns_of(a) < ns_of(b); });
  if (rows.empty()) return;
  const double as_good = ns_of(rows.front()) + Remedies::kAsGood * sim_ns;
  const auto end =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return ns_of(r) > as_good || ns_of(r) >= sim_ns; });
  if (end == rows.begin()) return;  // none is faster
  const auto first =
      std::min_element(rows.begin(), end, [&](const Row& a, const Row& b) { return cost_of(a) < cost_of(b); });
  std::rotate(rows.begin(), first, first + 1);
}

void write_remedies_text(std::ostream&, const Remedies&);
void write_remedies_csv(std::ostream&, const Remedies&);
void write_remedies_json(std::ostream&, const Remedies&);

}  // namespace kernbench::study
