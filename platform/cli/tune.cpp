// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/plan_options.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/study/sweep/shrinking.h"
#include "kernbench/platform/study/sweep/store.h"
#include "kernbench/platform/study/sweep/tuner.h"

namespace kernbench::cli {
namespace {

/// None if the run chooses its PEs itself, or if its kernel declares no size that is split over PEs.
sweep::Shrinking shrinking_of(const spec::RunSpec& run) {
  sweep::Shrinking s;
  if (run.text_or_none("kernel").empty()) return s;
  for (const char* choice : {"pes", "device", "ranks"}) {
    if (run.text(choice) != spec::option(choice).initial) return s;
  }
  const topology::Graph graph = SystemOptions(run).compile();
  for (const ParamSpec& p : KernelRegistry::instance().at(run.text("kernel")).params) {
    if (!p.split_over_pes) continue;
    s.param = p.name;
    s.otherwise = std::get<int64_t>(p.default_value);
    for (const auto& pe : graph.pes) s.pes.push_back(pe.id);
  }
  return s;
}

/// In a forked process, because a plug-in's kernels and blocks must not remain in this one.
int describe(const std::vector<std::string>& words) {
  return run_command("kernbench", [&] {
    const auto run = spec::RunSpec::of_words(words, "tune");
    std::cout << shrinking_of(run).to_json() << std::flush;
    return 0;
  });
}

struct TuneCommand {
  sweep::TuneOptions options;
  PlanOptions plan;
  std::string format, sort, pareto;
};

/// --sort, --pareto and --weights.
void choose_objectives(const TuneCommand& c, sweep::TuneOptions& o) {
  if (!c.sort.empty() && !c.pareto.empty())
    throw InputError("tune: found --sort and --pareto, expected one of the two");
  if (!c.sort.empty()) o.by = sweep::parse_objectives(c.sort, "--sort");
  if (!c.pareto.empty()) o.by = sweep::parse_front(c.pareto);
  if (!o.weights.empty() && c.sort.empty()) throw InputError("--weights: needs --sort beside it");
  if (!c.sort.empty() && o.by.size() != std::max<size_t>(o.weights.size(), 1))
    throw InputError(
        fmt::format("--sort: found {} metrics and {} weights, expected one metric, or --weights with as many",
                    o.by.size(), o.weights.size()));
}

void read_plan(TuneCommand& c, std::vector<std::string> command) {
  choose_objectives(c, c.options);
  if (command.empty() && c.plan.file.empty())
    throw InputError(
        "tune: needs the options of run, or model and its options, and --over OPTION=V,V,…, or --plan FILE.yaml");
  if (!command.empty() && !spec::is_run(command[0])) command.insert(command.begin(), "run");
  c.options.plan = c.plan.plan("tune", command);
}

int tune(TuneCommand& c) {
  sweep::TuneOptions& o = c.options;
  o.version = version();
  o.form = sweep::form_of(c.format);
  ProgressLine progress;
  sweep::TuneHooks hooks;
  hooks.describe = describe;
  hooks.tell = [&](const std::string& line) {
    progress.clear();
    tell("kernbench: " + line);
  };
  hooks.progress = [&](size_t rung, size_t rungs, size_t points, size_t of) {
    if (progress.due()) progress.show(fmt::format("rung {} of {}: {} of {} points", rung, rungs, points, of));
  };
  return sweep::run_tuner(o, std::cout, hooks);
}

}  // namespace

Command add_tune(CLI::App& app) {
  auto c = std::make_shared<TuneCommand>();
  CLI::App* cmd = app.add_subcommand(
      "tune", "Find the best of many points: simulate all on a small machine, then the better ones on larger machines");
  cmd->allow_extras();
  c->plan.add_to(*cmd);
  number_or_percent(
      cmd->add_option(
          "--budget", c->options.budget,
          "simulate at most this share of all points, such as 10% or 0.1, but at least two on the full machine"),
      1)
      ->default_str(fmt::format("{:g}%", 100 * c->options.budget))
      ->type_name("PERCENT%");
  whole_number(
      cmd->add_option("--seed", c->options.seed, "seed of the sample, if the budget does not allow all points"))
      ->capture_default_str();
  add_workers(*cmd, c->options.jobs, c->options.timeout_s);
  CLI::Option* store = cmd->add_option("--store", c->options.store,
                                       "keep the points in this file; stored points are not simulated again");
  writes_file(store->type_name("FILE.sqlite"), sweep::Store::files);
  add_format(*cmd, c->format, {"text", "csv", "json"});
  cmd->add_option("--sort", c->sort, "objectives: min:sim_ns, or other metrics of sweep --list-metrics")
      ->type_name("[min:|max:]NAME,…");
  positive_number(
      cmd->add_option(
          "--weights", c->options.weights,
          "with several metrics in --sort: exponents of the metrics; the point with the smallest product wins"),
      1e6)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("W,W,…");
  cmd->add_option("--pareto", c->pareto, "instead of --sort: find the Pareto front, such as min:sim_ns,min:cost")
      ->type_name("[min:|max:]NAME,…");
  cmd->footer(
      "kernbench tune --kernel gemm --topology default.yaml --param m=4096 --over param.tile_m=4,8,16 --over "
      "param.tile_n=64,128,256\n"
      "All other options are those of run, or of model after the word model. Rows: the simulated points by rung, best "
      "first. docs/optimisers.md");
  const auto files = [c, cmd](CommandFiles& f) {
    read_plan(*c, cmd->remaining());
    sweep::add_files(f, c->options.plan);
  };
  return {cmd, [c] { return tune(*c); }, files};
}

}  // namespace kernbench::cli
