// SPDX-License-Identifier: Apache-2.0
// `kernbench whatif --remedies`: simulates single changes that a user could make to a run, each in a separate process,
// and reports the time that each saves.
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
  /// Savings (as shares) that differ by less count as equal; the cheaper change goes first.
  static constexpr double kAsGood = 0.05;

  struct Row {
    std::string change;  ///< "--set 'sip*.cube*.pe*.pe_tcm.reserved_mb=2'"
    CostClass cost = CostClass::free;
    bool free() const { return cost == CostClass::free; }
    double ns = 0;
  };
  double sim_ns = 0;
  std::vector<std::string> verdict;
  /// Changes that make the run faster: first the recommended one, then by saving.
  std::vector<Row> rows;
  size_t tried = 0, same = 0, slower = 0;
  std::vector<std::pair<std::string, std::string>> impossible;  ///< change, first line of why
  double saved(const Row& r) const { return sim_ns > 0 ? 1 - r.ns / sim_ns : 0; }
};

/// `jobs`: concurrent processes, 0: one per processor. RunError with the run's message if the run itself fails.
Remedies find_remedies(const spec::RunSpec&, const std::vector<SingleChange>&, unsigned jobs, const RunEach& run_each,
                       const std::function<void(size_t done, size_t of)>& progress);

/// The run's time, with the layers that --repeat does not simulate. ns.
double whole_ns_of(const RunRecord&);
/// None if the run has no report.
std::optional<double> sim_ns_of(const RunRecord&);

/// Sorts rows by ns_of(row). Then the cheapest row whose saving is within kAsGood of the best moves to the front.
template <class Row, class Ns, class Cost>
void order_remedies(std::vector<Row>& rows, double sim_ns, const Ns& ns_of, const Cost& cost_of) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return ns_of(a) < ns_of(b); });
  if (rows.empty()) return;
  const double as_good = ns_of(rows.front()) + Remedies::kAsGood * sim_ns;
  const auto end =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return ns_of(r) > as_good || ns_of(r) >= sim_ns; });
  if (end == rows.begin()) return;  // none makes the run faster
  const auto first =
      std::min_element(rows.begin(), end, [&](const Row& a, const Row& b) { return cost_of(a) < cost_of(b); });
  std::rotate(rows.begin(), first, first + 1);
}

void write_remedies_text(std::ostream&, const Remedies&);
void write_remedies_csv(std::ostream&, const Remedies&);
void write_remedies_json(std::ostream&, const Remedies&);

}  // namespace kernbench::study
