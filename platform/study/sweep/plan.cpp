// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/entry/system.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/study/sweep/constraints.h"

namespace kernbench::sweep {

std::string Point::name(const std::vector<Axis>& axes) const {
  Words parts;
  for (size_t a = 0; a < axes.size(); ++a) parts.push_back(axes[a].name + "=" + values[a]);
  return joined(parts, " ");
}

Words Point::words(const Plan& plan) const {
  Words words = plan.command;
  for (size_t a = 0; a < plan.axes.size(); ++a) {
    for (std::string& word : option_words(plan.axes[a].name, values[a])) words.push_back(std::move(word));
  }
  return words;
}

void add_files(CommandFiles& files, const Plan& plan) {
  if (plan.command.empty()) return;
  const auto commands = spec::commands_with_tables();
  if (std::find(commands.begin(), commands.end(), plan.command[0]) == commands.end()) return;
  Words words = plan.command;
  for (const Axis& a : plan.axes) {
    for (const std::string& value : a.values) {
      for (std::string& word : option_words(a.name, value)) words.push_back(std::move(word));
    }
  }
  const auto run = spec::RunSpec::of_words(words);
  for (const spec::Option& o : run.table().options) {
    if (o.file == spec::Option::File::written && run.given(o.name))
      throw InputError(
          fmt::format("--{}: found in the command of many points, which would all write one file", o.name));
  }
  add_files(files, run);
}

std::vector<Point> points_of(const Plan& plan) {
  Words names, fixed_values;
  for (const Axis& a : plan.axes) names.push_back(a.name);
  for (const auto& [name, value] : plan.fixed) {
    names.push_back(name);
    fixed_values.push_back(value);
  }
  const auto at_place = [](const Plan::Where& w, const auto& work) {
    try {
      return work();
    } catch (const InputError& e) {
      throw InputError(w.place + ": " + e.what());
    }
  };
  std::vector<Constraint> constraints;
  for (const Plan::Where& w : plan.where)
    constraints.push_back(at_place(w, [&] { return Constraint(w.expression, names); }));
  std::vector<Point> points;
  for (Words& values : combinations(plan.axes, plan.sampling)) {
    Words all = values;
    all.insert(all.end(), fixed_values.begin(), fixed_values.end());
    bool in = true;
    for (size_t i = 0; in && i < constraints.size(); ++i)
      in = at_place(plan.where[i], [&] { return constraints[i].holds(all); });
    if (!in) continue;
    points.push_back({std::move(values)});
  }
  if (points.empty()) throw InputError("sweep: no combination is left; the constraints exclude all of them");
  return points;
}

}  // namespace kernbench::sweep
