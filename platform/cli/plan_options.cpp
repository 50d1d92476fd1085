// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/cli/plan_options.h"

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/phase2/tool/whole_number.h"

namespace kernbench::cli {

void PlanOptions::add_to(CLI::App& cmd) {
  cmd.add_option(
         "--over", over,
         "an option of the command and its values; param.n for --param n=… (repeatable; the last axis varies fastest)")
      ->allow_extra_args(false)
      ->type_name("OPTION=V,V,…");
  reads_file(
      cmd.add_option("--plan", file,
                     "instead of --over and a command: a plan file, with samples and constraints (docs/sweep.md)")
          ->type_name("FILE.yaml"));
  cmd.add_option("--where", where,
                 "only combinations that satisfy this expression, such as 'param.m * param.n <= 65536'")
      ->allow_extra_args(false)
      ->type_name("EXPRESSION");
}

sweep::Plan PlanOptions::plan(const std::string& who, const std::vector<std::string>& command) const {
  sweep::Plan plan;
  if (file.empty()) {
    if (over.empty()) throw InputError(who + ": needs --over OPTION=V,V,… or --plan FILE.yaml");
    if (command.empty()) throw InputError(who + ": needs run, model or probe, with its options, after --");
    plan.command = command;
    for (const std::string& text : over) plan.axes.push_back(sweep::parse_axis(text));
  } else {
    if (!over.empty() || !command.empty())
      throw InputError("--plan: found --over or a command beside it; legal: one of the two");
    std::ifstream in = open_input(file);
    plan = sweep::parse_plan(read_all(in, file), file);
  }
  for (const std::string& text : where) plan.where.push_back({text, "--where"});
  return plan;
}

void add_workers(CLI::App& cmd, unsigned& jobs, double& timeout_s) {
  whole_number(cmd.add_option("--jobs", jobs, "parallel processes; 0: one for each processor"), 0, 1024)
      ->capture_default_str();
  positive_number(cmd.add_option("--timeout", timeout_s, "time limit of a point, in seconds"), 1e9)->type_name("S");
}

}  // namespace kernbench::cli
