// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <vector>

#include "kernbench/platform/cli/help.h"

namespace kernbench::cli {

namespace {

struct HelpGroup {
  const char* title;
  std::vector<std::string_view> names;
};

const std::array<HelpGroup, 4> kCommandGroups = {{
    {"Simulate", {"run", "model", "probe", "traffic", "pipeline", "collectives"}},
    {"Many runs", {"sweep", "serve", "tune", "whatif"}},
    {"Results of a run", {"replay", "diff", "report", "web"}},
    {"Information", {"list", "topology", "man", "completion"}},
}};

/// Options outside of the tables (platform/run/spec/run_spec.h). "tune weights": a command that uses a name
/// differently.
const std::array<HelpGroup, 8> kOptionGroups = {{
    {"Work", {"seed"}},
    {"Machine", {"topology", "plugin"}},
    {"Points", {"over", "plan", "where", "part", "remedies", "whatif predict", "budget"}},
    {"Processes and shards", {"stdio", "jobs", "timeout", "retries", "shard", "emit", "tasks"}},
    {"Stores", {"store", "resume", "stored"}},
    {"Results and checks",
     {"verify", "debug-verify", "expected", "dump", "corrupt", "corrupt-op", "until", "allow-cut-off", "partial", "isa",
      "threads", "fail-over"}},
    {"Output",
     {"report", "format", "metric", "list-metrics", "sort", "pareto", "sqlite", "svg", "view", "id", "into", "output",
      "tune weights"}},
    {"Recordings", {"oplog", "memory"}},
}};

/// The group's title, or null.
template <class Groups>
const char* title_of(const Groups& groups, std::string_view name) {
  for (const HelpGroup& g : groups) {
    for (const std::string_view n : g.names) {
      if (n == name) return g.title;
    }
  }
  return nullptr;
}

}  // namespace

void group_for_help(CLI::App& program) {
  for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    if (const char* title = title_of(kCommandGroups, command->get_name())) command->group(title);
    for (CLI::Option* o : command->get_options([](CLI::Option*) { return true; })) {
      if (o->get_lnames().empty() || o->get_group() != CLI::OptionDefaults().get_group()) continue;
      const std::string& name = o->get_lnames().front();
      const char* title = title_of(kOptionGroups, command->get_name() + " " + name);
      if (!title) title = title_of(kOptionGroups, name);
      if (title) o->group(title);
    }
  }
}

}  // namespace kernbench::cli
