// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::sweep {
namespace {

using Json = nlohmann::json;

/// Cost of an objective: less is better.
std::optional<double> cost(const Cell& c, const Objective& o) {
  const auto v = number_of(c);
  return v && o.most ? -*v : v;
}

}  // namespace

const std::vector<Metric>& metrics() {
  using Of = Metric::Of;
  static const std::vector<Metric> all = [] {
    std::vector<Metric> v;
    for (const Figure& f : figures())
      v.push_back({f.name, f.meaning, f.is(Figure::kExplained) ? Of::explained_run : Of::run, f.is(Figure::kOfSomePes),
                   !f.is(Figure::kNoNumber)});
    v.push_back({"wall_s", "wall-clock time of the simulation, s; varies from run to run", Of::point});
    v.push_back({"error", "first error line of a failed point", Of::point});
    v.push_back({"command", "command line that repeats the point", Of::point});
    v.push_back({"key", "name of the point in a store", Of::point});
    return v;
  }();
  return all;
}

const Metric& metric(std::string_view name, const std::string& option) {
  std::vector<std::string_view> names;
  for (const Metric& m : metrics()) {
    if (m.name == name) return m;
    names.push_back(m.name);
  }
  throw InputError(fmt::format("{}: found {}; legal: {}", option, in_quotes(name), joined(names)));
}

bool needs_explain(const std::vector<Objective>& by) {
  return std::any_of(by.begin(), by.end(),
                     [](const Objective& o) { return metric(o.metric, "--metric").of == Metric::Of::explained_run; });
}

Cell cell_of(const Json& v) {
  if (v.is_null()) return {};
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_integer()) return v.get<int64_t>();
  if (v.is_number()) return v.get<double>();
  return v.get<std::string>();
}

Cell number_or_text(const std::string& text) {
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end) return whole;
  if (const auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end) return real;
  return text;
}

std::optional<double> number_of(const Cell& c) {
  if (const auto* d = std::get_if<double>(&c)) return *d;
  if (const auto* i = std::get_if<int64_t>(&c)) return static_cast<double>(*i);
  return std::nullopt;
}

std::vector<Objective> parse_objectives(const std::string& text, const std::string& option) {
  std::vector<Objective> all;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    std::string name = text.substr(from, comma - from);
    from = comma + 1;
    const std::string way = name.substr(0, 4);
    if (way == "min:" || way == "max:") name = name.substr(4);
    metric(name, option);
    if (std::any_of(all.begin(), all.end(), [&](const Objective& o) { return o.metric == name; }))
      throw InputError(option + ": found " + in_quotes(name) + " twice");
    all.push_back({name, way == "max:"});
  }
  return all;
}

std::vector<Objective> parse_front(const std::string& text) {
  std::vector<Objective> all = parse_objectives(text, "--pareto");
  if (all.size() == 1) throw InputError("--pareto: found one metric, expected two or more");
  return all;
}

void check_objectives(const std::string& option, const std::vector<Objective>& by,
                      const std::vector<std::vector<Cell>>& points, bool any_ran) {
  for (size_t k = 0; k < by.size() && any_ran; ++k) {
    if (std::any_of(points.begin(), points.end(), [&](const auto& p) { return number_of(p[k]); })) continue;
    throw InputError(fmt::format("{}: no point has a number for {}: {}", option, by[k].metric,
                                 metric(by[k].metric, option).meaning));
  }
}

std::vector<size_t> pareto_front(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>& by) {
  struct Candidate {
    std::vector<double> costs;
    size_t index;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < points.size(); ++i) {
    Candidate c{{}, i};
    for (size_t k = 0; k < by.size(); ++k) {
      if (const auto v = cost(points[i][k], by[k])) c.costs.push_back(*v);
    }
    if (c.costs.size() == by.size()) candidates.push_back(std::move(c));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.costs < b.costs; });
  // A dominating point sorts before the dominated one. Domination is transitive, so points on the Pareto front suffice
  // for the test.
  std::vector<Candidate> front;
  for (Candidate& c : candidates) {
    const auto beats = [&](const Candidate& f) {
      return f.costs != c.costs && std::equal(f.costs.begin(), f.costs.end(), c.costs.begin(), std::less_equal<>());
    };
    if (std::none_of(front.begin(), front.end(), beats)) front.push_back(std::move(c));
  }
  std::vector<size_t> indices;
  for (const Candidate& f : front) indices.push_back(f.index);
  return indices;
}

std::vector<size_t> sorted_by(const std::vector<Cell>& points, const Objective& by) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto x = cost(points[a], by), y = cost(points[b], by);
    return x && y ? *x < *y : x.has_value() && !y.has_value();
  });
  return order;
}

namespace {

std::vector<size_t> by_product(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>& by,
                               const std::vector<double>& weights) {
  std::vector<Cell> logs;
  for (const std::vector<Cell>& point : points) {
    double sum = 0;
    for (size_t k = 0; k < by.size(); ++k) {
      const double v = number_of(point[k]).value_or(-1);
      sum += (by[k].most ? -weights[k] : weights[k]) * std::log(v);  // ±infinity for 0, NaN below 0
    }
    logs.emplace_back();
    if (!std::isnan(sum)) logs.back() = sum;
  }
  return sorted_by(logs, {});
}

/// Crowding distance of a front's points: distance between both neighbours, each objective scaled by its range.
std::vector<Cell> rooms(const std::vector<std::vector<Cell>>& front, size_t objectives) {
  std::vector<double> room(front.size());
  for (size_t k = 0; k < objectives; ++k) {
    std::vector<Cell> values;
    for (const auto& point : front) values.push_back(point[k]);
    const std::vector<size_t> order = sorted_by(values, {});
    const auto value = [&](size_t at) { return *number_of(values[order[at]]); };
    const double range = value(order.size() - 1) - value(0);
    for (size_t at = 0; at < order.size(); ++at) {
      const bool end = at == 0 || at + 1 == order.size();
      if (end) room[order[at]] += std::numeric_limits<double>::infinity();
      if (!end && range > 0) room[order[at]] += (value(at + 1) - value(at - 1)) / range;
    }
  }
  return {room.begin(), room.end()};
}

}  // namespace

std::vector<size_t> ranked_by(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>& by,
                              const std::vector<double>& weights) {
  if (!weights.empty()) return by_product(points, by, weights);
  std::vector<size_t> left(points.size()), ranked;
  std::iota(left.begin(), left.end(), size_t{0});
  const auto of = [&](const std::vector<size_t>& some) {
    std::vector<std::vector<Cell>> cells;
    for (const size_t i : some) cells.push_back(points[i]);
    return cells;
  };
  for (std::vector<size_t> front; !(front = pareto_front(of(left), by)).empty();) {
    for (size_t& at : front) at = left[at];
    for (const size_t at : sorted_by(rooms(of(front), by.size()), {"", true})) ranked.push_back(front[at]);
    const std::set<size_t> taken(front.begin(), front.end());
    left.erase(std::remove_if(left.begin(), left.end(), [&](size_t i) { return taken.count(i) > 0; }), left.end());
  }
  ranked.insert(ranked.end(), left.begin(), left.end());
  return ranked;
}

}  // namespace kernbench::sweep
