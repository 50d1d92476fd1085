// SPDX-License-Identifier: Apache-2.0
// Metrics of a run for a sweep's rows, taken from the output of `kernbench run --format json`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/run/record/figures.h"

namespace kernbench::sweep {

struct Metric {
  enum class Of { run, explained_run, point };  ///< explained: needs --explain; point: of the point, not its run
  std::string_view name, meaning;
  Of of = Of::run;
  bool of_some_pes = false, number = false;  ///< as Figure's
};

const std::vector<Metric>& metrics();
/// InputError, with the legal names, for an unknown name; the message starts with `option`.
const Metric& metric(std::string_view name, const std::string& option);

/// min:sim_ns or max:tflops; without a prefix: min.
struct Objective {
  std::string metric;
  bool most = false;  ///< max
};
/// Whether any of them needs runs with --explain.
bool needs_explain(const std::vector<Objective>&);

using Cell = FigureValue;
Cell cell_of(const nlohmann::json&);
/// An integer, a number, or the text itself, whichever matches it completely.
Cell number_or_text(const std::string&);
/// None if it is no number.
std::optional<double> number_of(const Cell&);

/// Comma-separated. InputError, starting with `option`.
std::vector<Objective> parse_objectives(const std::string& text, const std::string& option);
/// --pareto: two or more.
std::vector<Objective> parse_front(const std::string& text);

/// InputError if points completed but none has a number for an objective.
void check_objectives(const std::string& option, const std::vector<Objective>&,
                      const std::vector<std::vector<Cell>>& points, bool any_ran);

/// Indices of the points on the Pareto front, including all equal ones. A point without a number for each objective is
/// excluded. Sorted best first by the first objective, then by the next; ties keep their order.
std::vector<size_t> pareto_front(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>&);
/// All points sorted by one objective; points without a number last.
std::vector<size_t> sorted_by(const std::vector<Cell>& points, const Objective&);
/// All points sorted by several objectives; points without a number for each objective come last. With weights: by the
/// product of the values raised to their weights (negated for maxima), smallest first; the product is independent of
/// units and undefined for negative values. Without weights: front after front. Within a front, points with the largest
/// crowding distance come first (NSGA-II, Deb et al. 2002), so that the first ones are spread over it.
std::vector<size_t> ranked_by(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>&,
                              const std::vector<double>& weights);

}  // namespace kernbench::sweep
