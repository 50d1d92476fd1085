// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <iostream>
#include <memory>
#include <optional>

#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/study/diff/diff_page.h"
#include "kernbench/platform/study/diff/run_diff.h"
#include "kernbench/platform/study/sweep/store.h"
#include "kernbench/platform/study/sweep/store_diff.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::cli {
namespace {

/// Parses "1%" as 0.01.
double parse_percent(const std::string& text) {
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, percent);
  if (error == std::errc() && read + 1 == end && *read == '%' && percent >= 0 && percent <= 1e6) return percent / 100;
  throw InputError(fmt::format("--fail-over: found {}; legal: a share such as 1% or 0.5%", in_quotes(text)));
}

/// The floorplan is that of run a, if its text is known; settings may have changed it.
void write_page_file(const std::string& file, const RunFile& a, const RunFile& b, const RunDiff& d) {
  if (a.log) throw InputError("--report: found op logs, expected two reports in JSON");
  std::optional<topology::Graph> system;
  if (!a.topology_text.empty())
    system = topology::compile_text(a.topology_text, a.name + ": topology", component_catalog());
  WholeFile out(file);
  write_diff_page({a, b, d, system ? &*system : nullptr}, [&](std::string_view text) { out.write(text); });
  out.keep();
}

}  // namespace

Command add_diff(CLI::App& app) {
  struct Options {
    std::string a, b, format, fail_over, report;
    bool partial = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("diff", "Compare two runs: configuration, times, critical path, ops");
  CLI::Option* first = cmd->add_option(
      "a", o->a,
      "a JSON report (of run, preferably with --explain, traffic, pipeline, probe or collectives), an op "
      "log, or a sweep's store");
  reads_file(first->required()->type_name("FILE"));
  reads_file(cmd->add_option("b", o->b, "another file of the same kind")->required()->type_name("FILE"));
  cmd->add_option("--fail-over", o->fail_over, "exit with status 1 if b takes longer by more than this share")
      ->type_name("PERCENT%");
  cmd->add_flag("--partial", o->partial, "accept logs of unfinished runs, and mark them");
  CLI::Option* page =
      cmd->add_option("--report", o->report, "HTML page with a floorplan of the busier parts (two reports only)");
  writes_file(page->type_name("FILE.html"));
  add_format(*cmd, o->format, {"text", "json"});
  cmd->footer("kernbench diff yesterday.json today.json --fail-over 1%      a gate for CI; docs/insight.md");
  return {cmd, [o] {
            const double most = o->fail_over.empty() ? 0 : parse_percent(o->fail_over);
            if (sweep::Store::is_store(o->a) || sweep::Store::is_store(o->b)) {
              if (!o->report.empty()) throw InputError("--report: found stores, expected two reports in JSON");
              const sweep::StoreDiff d = sweep::diff_stores(o->a, o->b);
              (o->format == "json" ? sweep::write_store_diff_json : sweep::write_store_diff_text)(std::cout, d);
              return !o->fail_over.empty() && d.slower() > most ? 1 : 0;
            }
            const RunFile a = read_run_file(o->a, o->partial), b = read_run_file(o->b, o->partial);
            const RunDiff d = diff_runs(a, b);
            if (!o->report.empty()) write_page_file(o->report, a, b, d);
            (o->format == "json" ? write_diff_json : write_diff_text)(std::cout, d);
            return !o->fail_over.empty() && d.slower() > most ? 1 : 0;
          }};
}

}  // namespace kernbench::cli
