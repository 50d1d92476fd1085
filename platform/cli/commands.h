// SPDX-License-Identifier: Apache-2.0
// The subcommands of `kernbench`. Each adds itself to the parser and returns the function that executes it.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/tool/commands.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/platform/entry/run.h"
#include "kernbench/platform/entry/system.h"

namespace kernbench::cli {

Command add_collectives(CLI::App&);
Command add_list(CLI::App&);
Command add_model(CLI::App&);
Command add_pipeline(CLI::App&);
Command add_probe(CLI::App&);
Command add_report(CLI::App&);
Command add_run(CLI::App&);
Command add_serve(CLI::App&);
Command add_sweep(CLI::App&);
Command add_topology(CLI::App&);
Command add_traffic(CLI::App&);
Command add_tune(CLI::App&);
Command add_web(CLI::App&);
Command add_whatif(CLI::App&);
Command add_diff(CLI::App&);

class Progress;

/// --plugin, for every command that uses kernels or components.
struct PluginOptions {
  std::vector<std::string> files;
  void add_to(CLI::App&);
};

/// --topology, --links, --response, --set, --scale and --plugin, which several commands share.
void add_system(CLI::App&, SystemOptions&);

/// Prints lines beside a report on stderr, and shows a simulation's progress there. Progress must outlive it.
RunHooks hooks_with(Progress&);
/// Simulates in this process and writes the report to stdout; returns the exit status. `topology_text` and `log`: as in
/// RunHooks.
int simulate(const spec::RunSpec&, const std::string& topology_text = "", std::shared_ptr<OpLogSink> log = nullptr);

/// --format with its legal values; the first is the default.
void add_format(CLI::App&, std::string& format, std::vector<std::string> legal);

}  // namespace kernbench::cli
