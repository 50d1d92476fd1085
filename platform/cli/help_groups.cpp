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
    {"What a run left", {"replay", "diff", "report", "web"}},
    {"What there is", {"list", "topology", "man", "completion"}},
}};

/// "traffic --trace" before "--trace": where a command uses a name for something else.
const std::array<HelpGroup, 9> kOptionGroups = {{
    {"What runs", {"kernel",           "program", "ttir",   "function", "grid",  "order",
                   "interleave",       "place",   "param",  "tensor",   "seed",  "pes",
                   "device",           "ranks",   "op",     "sizes",    "dtype", "redop",
                   "algorithm",        "root",    "work",   "bytes",    "case",  "traffic trace",
                   "collectives over", "model",   "phase",  "tp",       "pp",    "ep",
                   "weights",          "kv",      "layers", "repeat",   "dim",   "test-data",
                   "activations",      "routing", "chains"}},
    {"On what machine", {"topology", "links", "response", "set", "scale", "plugin"}},
    {"How it runs",
     {"launch", "transfer", "address", "tier", "slots", "slot-bytes", "part-bytes", "chunk-bytes", "hops", "saturate",
      "probe sweep", "max-time", "max-wall"}},
    {"Points", {"over", "plan", "where", "part", "remedies", "whatif predict", "budget"}},
    {"Processes and shards", {"stdio", "jobs", "timeout", "retries", "shard", "emit", "tasks"}},
    {"Stores", {"store", "resume", "stored"}},
    {"Results and their checks",
     {"verify", "verify-layer", "expected", "debug-verify", "check-races", "check", "dump", "corrupt", "corrupt-op",
      "until", "allow-cut-off", "partial", "isa", "threads", "fail-over"}},
    {"What is shown", {"explain",  "energy",        "activity",      "wiring",      "report",
                       "format",   "metric",        "list-metrics",  "sort",        "pareto",
                       "sqlite",   "svg",           "view",          "id",          "into",
                       "accounts", "statistics",    "dram-commands", "output",      "report-topology",
                       "predict",  "report-causes", "model plan",    "tune weights"}},
    {"What is recorded",
     {"oplog", "memory", "oplog-hops", "trace", "trace-from", "trace-to", "ftr", "ftr-from", "ftr-to", "vcd",
      "vcd-scope", "vcd-from", "vcd-to"}},
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
      if (o->get_lnames().empty()) continue;
      const std::string& name = o->get_lnames().front();
      const char* title = title_of(kOptionGroups, command->get_name() + " " + name);
      if (!title) title = title_of(kOptionGroups, name);
      if (title) o->group(title);
    }
  }
}

}  // namespace kernbench::cli
