// SPDX-License-Identifier: Apache-2.0
// A plan from its file.
#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/study/sweep/constraints.h"
#include "kernbench/platform/study/sweep/plan.h"
#include "kernbench/platform/study/sweep/point_options.h"
#include "kernbench/platform/topology/read/yaml_reader.h"

namespace kernbench::sweep {
namespace {

using topology::FaultList;
using topology::NumberRule;
using topology::YamlMap;
using topology::YamlNode;

constexpr const char* kMethods[] = {"grid", "latin_hypercube", "sobol", "one_at_a_time"};

class PlanReader {
 public:
  PlanReader(const std::string& text, const std::string& file)
      : faults_(file), document_(topology::parse_document(text, faults_)) {}

  Plan read() {
    faults_.throw_if_any();
    plan_.command = {names_a_model(document_.root) ? "model" : "run"};
    table_ = &spec::table_of(plan_.command[0]);
    YamlMap map(document_.root, "", faults_);
    const std::vector<std::string> methods(std::begin(kMethods), std::end(kMethods));
    plan_.sampling.method = static_cast<Method>(map.choice("method", methods).value_or(0));
    const bool sampled = plan_.sampling.method == Method::latin_hypercube || plan_.sampling.method == Method::sobol;
    if (sampled) {
      plan_.sampling.points = map.require_unsigned("points", 1, kMostPoints).value_or(1);
      plan_.sampling.seed = map.unsigned_or("seed", 1, 0, ~uint64_t{0});
    }
    if (map.has("options")) read_options(map.take("options"));
    read_axes(map.require("over", "a mapping of options to their values"), sampled);
    if (map.has("where")) read_constraints(map.take("where"));
    map.finish();
    faults_.throw_if_any();
    return std::move(plan_);
  }

 private:
  /// Among its fixed options or its axes.
  static bool names_a_model(YamlNode plan) {
    const auto has = [](YamlNode n, const auto& good) { return n.is_map() && std::any_of(n.begin(), n.end(), good); };
    return has(plan, [&](const auto& part) {
      return (part.key.text() == "options" || part.key.text() == "over") &&
             has(part.value, [](const auto& option) { return option.key.text() == "model"; });
    });
  }

  /// Whether the option is allowed; else adds an error.
  bool is_option(const std::string& name, int line, const std::string& field) {
    const std::string fault = option_name_fault(*table_, name);
    if (!fault.empty()) faults_.add(line, field, fault);
    return fault.empty();
  }

  /// A value as written; if it is none, adds an error and returns nothing.
  std::optional<std::string> value(const std::string& name, YamlNode n, const std::string& field) {
    const auto text = topology::read_string(n, field, faults_);
    const std::string fault = text ? option_value_fault(*table_, name, *text) : "";
    if (fault.empty()) return text;
    faults_.add(n.line(), field, fault);
    return std::nullopt;
  }

  void read_options(YamlNode node) {
    YamlMap map(node, "options", faults_);
    for (const auto& [name, n] : map.entries()) {
      const std::string field = map.field(cut(name));
      map.take(name);
      if (!is_option(name, n.line(), field)) continue;
      if (!n.is_list()) {
        if (const auto v = value(name, n, field)) fix(name, *v);
        continue;
      }
      if (n.size() == 0) faults_.add(n.line(), field, "found [], expected one value or more");
      for (const auto& item : n) {  // the option is repeated
        if (const auto v = value(name, item.value, field)) fix(name, *v);
      }
    }
  }

  void fix(const std::string& name, const std::string& v) {
    for (std::string& word : option_words(name, v)) plan_.command.push_back(std::move(word));
    const auto same = [&](const auto& f) { return f.first == name; };
    if (std::none_of(plan_.fixed.begin(), plan_.fixed.end(), same)) plan_.fixed.emplace_back(name, v);
  }

  void read_axes(YamlNode node, bool sampled) {
    if (!node.is_defined()) return;
    YamlMap map(node, "over", faults_);
    for (const auto& [name, n] : map.entries()) {
      const std::string field = map.field(cut(name));
      map.take(name);
      if (!is_option(name, n.line(), field)) continue;
      const auto same = [&, wanted = std::string_view(name)](const auto& f) { return f.first == wanted; };
      if (std::any_of(plan_.fixed.begin(), plan_.fixed.end(), same))
        faults_.add(n.line(), field, "stands in options too; legal: one of the two");
      Axis axis{name, {}, {}};
      if (n.is_map()) {
        read_range(n, field, sampled, axis);
      } else if (n.is_list() && n.size() > 0) {
        for (const auto& item : n) {
          if (const auto v = value(name, item.value, field)) axis.values.push_back(*v);
        }
      } else {
        faults_.add(n.line(), field,
                    "found " + topology::describe(n) + "; legal: a list of values, or from and to with step or factor");
      }
      plan_.axes.push_back(std::move(axis));
    }
    if (map.valid() && plan_.axes.empty() && faults_.empty())
      faults_.add(node.line(), "over", "found no option; legal: one or more");
    if (plan_.sampling.method == Method::sobol && plan_.axes.size() > kMostSobolAxes)
      faults_.add(node.line(), "over",
                  fmt::format("found {} options; legal beside sobol: up to {}", plan_.axes.size(), kMostSobolAxes));
  }

  void read_range(YamlNode node, const std::string& field, bool sampled, Axis& axis) {
    YamlMap map(node, field, faults_);
    const NumberRule any;
    const auto from = map.require_number("from", any);
    const auto to = from ? map.require_number("to", {*from, 1e15, false, ""}) : map.require_number("to", any);
    const auto step = map.number("step", NumberRule::positive(""));
    const auto factor = map.number("factor", {1, 1e15, true, ""});
    const bool steps = map.has("step") || map.has("factor");
    map.finish();
    if (map.has("step") && map.has("factor"))
      faults_.add(map.line(), field, "found step and factor; legal: one of the two");
    if (factor && from && *from <= 0) faults_.add(map.line(), field, "found factor; legal: beside from > 0");
    if (!steps && !sampled)
      faults_.add(map.line(), field, "found no step; legal: step or factor, as grid and one_at_a_time need it");
    if (!faults_.empty() || !from || !to) return;
    if (!steps) {
      axis.range = {*from, *to};
      return;
    }
    double v = *from;
    // The last value is included if only rounding keeps it from `to`.
    const double last = step ? *to + 1e-9 * *step : *to * (1 + 1e-12);
    for (size_t i = 1; v <= last; ++i) {
      if (axis.values.size() == kMostPoints) {
        faults_.add(map.line(), field, fmt::format("more than {} values", kMostPoints));
        return;
      }
      axis.values.push_back(fmt::format("{:.15g}", v));
      v = step ? *from + static_cast<double>(i) * *step : v * *factor;
    }
  }

  void read_constraints(YamlNode node) {
    if (!node.is_list()) {
      faults_.add(node.line(), "where", "found " + topology::describe(node) + "; legal: a list of expressions");
      return;
    }
    Words names;
    for (const Axis& a : plan_.axes) names.push_back(a.name);
    for (const auto& f : plan_.fixed) names.push_back(f.first);
    for (size_t i = 0; i < node.size(); ++i) {
      const std::string field = fmt::format("where[{}]", i);
      const auto text = topology::read_string(node[i], field, faults_);
      if (!text) continue;
      try {
        Constraint(*text, names);
      } catch (const InputError& e) {
        faults_.add(node[i].line(), field, e.what());
      }
      plan_.where.push_back({*text, fmt::format("{}:{}: {}", faults_.file(), node[i].line(), field)});
    }
  }

  FaultList faults_;
  topology::YamlDocument document_;
  const spec::Table* table_ = nullptr;  // of the command
  Plan plan_;
};

}  // namespace

Plan parse_plan(const std::string& text, const std::string& file) {
  return PlanReader(text, file).read();
}

}  // namespace kernbench::sweep
