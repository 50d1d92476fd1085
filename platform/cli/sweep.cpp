// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/sweep.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/progress_line.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/plan_options.h"
#include "kernbench/platform/cli/sweep_shards.h"
#include "kernbench/platform/study/sweep/store.h"
#include "kernbench/platform/study/sweep/table_database.h"

namespace kernbench::cli {
namespace {

struct SweepCommand {
  sweep::SweepOptions options;
  PlanOptions plan;
  std::vector<std::string> command, metrics;
  std::string shard, format, sort, pareto, svg, report, sqlite;
  bool list_metrics = false, resume = false;
  EmitOptions emit;
};

int list_metrics() {
  for (const sweep::Metric& m : sweep::metrics()) {
    fmt::print("{:<16} {}{}{}\n", m.name, m.meaning,
               kernbench::title_of(m.name) != m.name ? "; percent in text and pages" : "",
               m.of == sweep::Metric::Of::explained_run ? " (simulates with --explain)" : "");
  }
  return 0;
}

void choose_shard(const std::string& text, sweep::SweepOptions& o) {
  if (text.empty()) return;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, o.shard);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == '/') {
    const auto second = std::from_chars(first.ptr + 1, end, o.shards);
    if (second.ec == std::errc() && second.ptr == end && o.shard >= 1 && o.shard <= o.shards) return;
  }
  throw InputError("--shard: found " + in_quotes(text) +
                   ", expected I/N, the I-th of N shards, counted from 1, such as 1/4");
}

int sweep_points(SweepCommand& c, const CLI::App& words) {
  if (c.list_metrics) return list_metrics();
  sweep::SweepOptions& o = c.options;
  o.version = version();
  o.form = sweep::form_of(c.format);
  for (const std::string& text : c.metrics) {
    for (const sweep::Objective& m : sweep::parse_objectives(text, "--metric")) o.metrics.push_back(m.metric);
  }
  if (!c.sort.empty()) o.sort = sweep::parse_objectives(c.sort, "--sort");
  if (o.sort.size() > 1) throw InputError("--sort: found " + in_quotes(c.sort) + ", expected one metric");
  if (!c.pareto.empty()) o.pareto = sweep::parse_front(c.pareto);
  if (!c.svg.empty() && o.pareto.empty()) throw InputError("--svg: needs --pareto beside it");
  if (o.stored_only && o.store.empty()) throw InputError("--stored: needs --store beside it");
  if (c.resume && (o.store.empty() || !std::filesystem::exists(o.store)))
    throw InputError("--resume: found " + (o.store.empty() ? "no --store" : "no file " + in_quotes(o.store)) +
                     ", expected the store of an earlier sweep");
  choose_shard(c.shard, o);
  sweep::SweepHooks hooks;
  if (!c.emit.engine.empty()) {
    emit_sweep(words, c.emit, o, hooks);
    return 0;
  }
  if (!c.sqlite.empty()) sweep::check_replaced_database(c.sqlite);
  ProgressLine progress;
  const auto say = [&](const std::string& line) {
    progress.clear();
    tell(line);
  };
  hooks.ended = [&](const std::string& point, const std::string& fault) {
    if (!fault.empty()) say(point + ": " + fault);
  };
  hooks.progress = [&](size_t points, size_t of, size_t simulated) {
    if (!progress.due()) return;
    std::string line = fmt::format("swept {} of {}", points, of);
    if (simulated > 0 && points < of) {
      line += fmt::format(", {:.0f} s to go",
                          progress.elapsed_s() / static_cast<double>(simulated) * static_cast<double>(of - points));
    }
    progress.show(line);
  };
  hooks.tell = [&](const std::string& line) { say("kernbench: " + line); };
  const auto written = [](const std::string& file) -> std::function<void(const std::string&)> {
    if (file.empty()) return {};
    return [whole = std::make_shared<WholeFile>(file)](const std::string& bytes) {
      whole->write(bytes);
      whole->keep();
    };
  };
  hooks.picture = written(c.svg);
  hooks.page = written(c.report);
  hooks.database = written(c.sqlite);
  return sweep::run_sweep(o, std::cout, hooks);
}

int merge(const std::string& out, const std::vector<std::string>& in) {
  sweep::Store store(out, version());
  for (const std::string& file : in) {
    const sweep::Store::Merged merged = store.merge(file);
    tell(fmt::format("kernbench: {}: {} points added, {} already stored", file, merged.added, merged.there));
  }
  return 0;
}

CLI::App* add_merge(CLI::App& app, std::string& out, std::vector<std::string>& in) {
  CLI::App* cmd = app.add_subcommand("merge", "Merge the points of several stores into one");
  writes_file(cmd->add_option("out", out, "the merged store; created if it does not exist")
                  ->required()
                  ->type_name("OUT.sqlite"),
              sweep::Store::files);
  reads_file(cmd->add_option("in", in, "stores of the same kernbench version")->required()->type_name("IN.sqlite"));
  return cmd;
}

void add_what(CLI::App& cmd, SweepCommand& c) {
  c.plan.add_to(cmd);
  add_workers(cmd, c.options.jobs, c.options.timeout_s);
  cmd.add_option("command", c.command, "after --: run, model or probe, with the options that all points share");
}

void add_table(CLI::App& cmd, SweepCommand& c) {
  add_format(cmd, c.format, {"csv", "json", "text"});
  cmd.add_option("--metric", c.metrics, "columns instead of sim_ns and verified: names from --list-metrics")
      ->allow_extra_args(false)
      ->type_name("NAME,NAME,…");
  cmd.add_flag("--list-metrics", c.list_metrics, "print the names for --metric, --sort and --pareto, and exit");
  cmd.add_option("--sort", c.sort, "sort the rows, best first; the best goes to stderr too")
      ->type_name("[min:|max:]NAME");
  cmd.add_option("--pareto", c.pareto,
                 "Pareto front only: the points that no other point dominates, such as min:sim_ns,max:tflops")
      ->type_name("[min:|max:]NAME,…");
  const auto written = [&](const char* option, std::string& file, const char* help, const char* form) {
    writes_file(cmd.add_option(option, file, help)->type_name(form));
  };
  written("--sqlite", c.sqlite, "write the rows also to table sweep of an SQLite database, with typed columns",
          "FILE.sqlite");
  written("--svg", c.svg, "plot of all points by the first two metrics of --pareto", "FILE.svg");
  written("--report", c.report, "HTML page: all points, the Pareto front, and the command of each point", "FILE.html");
}

void add_store(CLI::App& cmd, SweepCommand& c) {
  CLI::Option* store = cmd.add_option("--store", c.options.store,
                                      "keep the points in this file; no process simulates a stored point again");
  writes_file(store->type_name("FILE.sqlite"), sweep::Store::files);
  cmd.add_flag("--resume", c.resume, "with --store: require that the file exists (each sweep continues from it)");
  cmd.add_flag("--stored", c.options.stored_only, "simulate nothing; print the stored rows");
  whole_number(cmd.add_option("--retries", c.options.retries,
                              "with --store: retries of a point that a signal or --timeout ended"),
               0, 100)
      ->capture_default_str();
  cmd.add_option("--shard", c.shard, "simulate only every N-th point, starting at the I-th (1 to N)")->type_name("I/N");
}

}  // namespace

Command add_sweep(CLI::App& app) {
  auto c = std::make_shared<SweepCommand>();
  auto out = std::make_shared<std::string>();
  auto in = std::make_shared<std::vector<std::string>>();
  CLI::App* cmd = app.add_subcommand(
      "sweep", "Sweep design points: run each combination of option values, in parallel, and print a table");
  add_what(*cmd, *c);
  add_table(*cmd, *c);
  add_store(*cmd, *c);
  c->emit.add_to(*cmd);
  CLI::App* merging = add_merge(*cmd, *out, *in);
  const Command progress = add_progress(*cmd);
  cmd->footer(
      "kernbench sweep --over links=ideal,cut_through,flit --over param.n=64,128 -- run --topology small.yaml --kernel "
      "gemm\nRows come in the order of the combinations for any number of processes. Exit status: the worst of all. "
      "docs/sweep.md");
  const auto files = [=](CommandFiles& f) {
    if (c->list_metrics || progress.app->parsed() || merging->parsed()) return;
    c->options.plan = c->plan.plan("sweep", c->command);
    sweep::add_files(f, c->options.plan);
  };
  return {cmd,
          [=] {
            if (progress.app->parsed()) return progress.run();
            return merging->parsed() ? merge(*out, *in) : sweep_points(*c, *cmd);
          },
          files};
}

}  // namespace kernbench::cli
