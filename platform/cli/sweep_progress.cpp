// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/sweep_shards.h"
#include "kernbench/platform/study/sweep/progress_file.h"

namespace kernbench::cli {
namespace {

constexpr double kSilentS = 60;  // six times the longest interval between two writes

const char* state_of(const sweep::SweepProgress& p) {
  return p.complete() ? "done" : p.ended ? "stopped" : p.age_s < kSilentS ? "running" : "silent";
}

sweep::Cell rounded(double v) {
  return std::round(v * 10) / 10;
}

/// `rate`, `to_go_s`: 0 or less if unknown.
sweep::Row row_of(const std::string& store, const std::string& state, uint64_t points, uint64_t done, uint64_t failed,
                  double rate, double to_go_s) {
  sweep::Row row;
  row.set("store", store);
  row.set("state", state);
  row.set("points", static_cast<int64_t>(points));
  row.set("done", static_cast<int64_t>(done));
  row.set("failed", static_cast<int64_t>(failed));
  row.set("points_per_s", rate > 0 ? rounded(rate) : sweep::Cell());
  row.set("to_go_s", to_go_s >= 0 ? rounded(to_go_s) : sweep::Cell());
  return row;
}

int show_progress(const std::vector<std::string>& stores, sweep::Form form) {
  std::vector<sweep::SweepProgress> all;
  for (const std::string& store : stores) all.push_back(sweep::read_progress(store));
  sweep::Table table(std::cout, form,
                     {"store", "state", "points", "done", "failed", "points_per_s", "to_go_s", "host", "seen_s_ago"});
  uint64_t plan = 0, points = 0, done = 0, failed = 0, shards = 0;
  double rate = 0, to_go_s = 0;
  std::map<std::string, size_t> states;
  for (size_t i = 0; i < all.size(); ++i) {
    const sweep::SweepProgress& p = all[i];
    const std::string state = state_of(p);
    const bool runs = state == "running";
    const double own_rate = runs ? p.rate() : 0;
    const double own_to_go_s = own_rate > 0 ? static_cast<double>(p.points - p.done) / own_rate : -1;
    sweep::Row row = row_of(stores[i], state, p.points, p.done, p.failed, own_rate, own_to_go_s);
    row.set("host", p.host);
    row.set("seen_s_ago", rounded(p.age_s));
    table.add(row);
    ++states[state];
    plan = std::max(plan, p.plan);
    points += p.points;
    shards = std::max(shards, p.shards);
    done += p.done;
    failed += p.failed;
    rate += own_rate;
    to_go_s = std::max(to_go_s, own_to_go_s);
  }
  // Shards that have not started have no file; the shards of several plans are summed.
  points = std::max(points, plan);
  if (shards > all.size()) states["not begun"] = shards - all.size();
  std::vector<std::string> told;
  for (const auto& [state, n] : states) told.push_back(fmt::format("{} {}", n, state));
  // The slowest shard ends last, unless others still wait for a machine.
  const double left = static_cast<double>(points - done);
  to_go_s = left == 0 ? 0 : rate > 0 ? std::max(to_go_s, left / rate) : -1;
  table.add(row_of("all", joined(told), points, done, failed, rate, to_go_s));
  table.end();
  return left == 0 ? 0 : 1;
}

}  // namespace

Command add_progress(CLI::App& sweep) {
  auto stores = std::make_shared<std::vector<std::string>>();
  auto format = std::make_shared<std::string>();
  CLI::App* cmd = sweep.add_subcommand("progress", "Show the progress of a sweep's shards and the expected end");
  CLI::Option* files = cmd->add_option("stores", *stores, "stores of shards, also while the shards run");
  reads_file(files->required()->type_name("STORE.sqlite"));
  add_format(*cmd, *format, {"text", "csv", "json"});
  cmd->footer("Exit status: 0 if all points have ended, else 1. docs/cluster.md");
  return {cmd, [stores, format] { return show_progress(*stores, sweep::form_of(*format)); }};
}

}  // namespace kernbench::cli
