// SPDX-License-Identifier: Apache-2.0
// What a sweep's rows may say of a run, from what `kernbench run --format json` says of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/run/record/figures.h"

namespace kernbench::sweep {

struct Metric {
  enum class Of { run, explained_run, point };  ///< explained: needs --explain; point: of the sweep, not of what it did
  std::string_view name, meaning;
  Of of = Of::run;
  bool of_some_pes = false, number = false;  ///< Figure's
};

const std::vector<Metric>& metrics();
/// InputError, with the legal names, where there is none of that name. `option` stands in front.
const Metric& metric(std::string_view name, const std::string& option);

/// min:sim_ns or max:tflops; a name alone is its minimum.
struct Objective {
  std::string metric;
  bool most = false;  ///< max
};
/// Whether one of them is of runs with --explain.
bool needs_explain(const std::vector<Objective>&);

using Cell = FigureValue;
Cell cell_of(const nlohmann::json&);
/// A whole number, a number, or the text itself, all of which it is.
Cell number_or_text(const std::string&);
/// Nothing for what is no number.
std::optional<double> number_of(const Cell&);

/// Separated by commas. InputError, `option` in front.
std::vector<Objective> parse_objectives(const std::string& text, const std::string& option);
/// --pareto: two or more.
std::vector<Objective> parse_front(const std::string& text);

/// InputError where points ran through, and none has a number for an objective.
void check_objectives(const std::string& option, const std::vector<Objective>&,
                      const std::vector<std::vector<Cell>>& points, bool any_ran);

/// Indices of the points that no other point beats, equal ones all: another that is as good by every objective and
/// better by one. A point without a number for each objective is not among them. By the first objective, best first,
/// then the next; equal ones in their order.
std::vector<size_t> pareto_front(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>&);
/// The same order for all points by one objective; points without a number last.
std::vector<size_t> sorted_by(const std::vector<Cell>& points, const Objective&);
/// All points by several: by the product of the values to the power of their weights (of those that are to be greatest
/// to minus that), which knows no units, least first; a value below 0 has none. Without weights front
/// after front, those of a front with most room about them first (crowding distance of NSGA-II, Deb et al. 2002), so
/// that its first ones are spread over it. Points without a number for each objective last.
std::vector<size_t> ranked_by(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>&,
                              const std::vector<double>& weights);

}  // namespace kernbench::sweep
