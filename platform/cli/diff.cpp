#include <fmt/format.h>

#include <charconv>
#include <iostream>
#include <memory>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/sweep/store.h"
#include "kernbench/platform/sweep/store_diff.h"
#include "kernbench/platform/tools/run_diff.h"

namespace kernbench::cli {
namespace {

/// "1%" as 0.01.
double parse_percent(const std::string& text) {
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, percent);
  if (error == std::errc() && read + 1 == end && *read == '%' && percent >= 0 && percent <= 1e6) return percent / 100;
  throw InputError(fmt::format("--fail-over: found {}; legal: a share such as 1% or 0.5%", in_quotes(text)));
}

}  // namespace

Command add_diff(CLI::App& app) {
  struct Options {
    std::string a, b, format, fail_over;
    bool partial = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("diff", "What differs between two runs: configuration, times, critical path, ops");
  cmd->add_option(
         "a", o->a,
         "a report in JSON (of run, best with --explain, traffic, pipeline, probe or collectives), an op log, or a "
         "sweep's store")
      ->required()
      ->type_name("FILE");
  cmd->add_option("b", o->b, "another one, of the same kind")->required()->type_name("FILE");
  cmd->add_option("--fail-over", o->fail_over, "exit status 1 where b takes longer by more than that")
      ->type_name("PERCENT%");
  cmd->add_flag("--partial", o->partial, "also logs of runs that have not finished, which are marked");
  add_format(*cmd, o->format, {"text", "json"});
  cmd->footer("kernbench diff yesterday.json today.json --fail-over 1%      a gate for CI; docs/insight.md");
  return {cmd, [o] {
            const double most = o->fail_over.empty() ? 0 : parse_percent(o->fail_over);
            if (sweep::Store::is_store(o->a) || sweep::Store::is_store(o->b)) {
              const sweep::StoreDiff d = sweep::diff_stores(o->a, o->b);
              (o->format == "json" ? sweep::write_store_diff_json : sweep::write_store_diff_text)(std::cout, d);
              return !o->fail_over.empty() && d.slower() > most ? 1 : 0;
            }
            const RunDiff d = diff_runs(read_run_file(o->a, o->partial), read_run_file(o->b, o->partial));
            (o->format == "json" ? write_diff_json : write_diff_text)(std::cout, d);
            return !o->fail_over.empty() && d.slower() > most ? 1 : 0;
          }};
}

}  // namespace kernbench::cli
