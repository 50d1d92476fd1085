// SPDX-License-Identifier: Apache-2.0
// The subcommands of `kernbench`. Each adds itself to the parser and gives what to do if it was asked for.
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

/// --plugin, as every command has it that knows kernels or components.
struct PluginOptions {
  std::vector<std::string> files;
  void add_to(CLI::App&);
};

/// --topology, --links, --response, --set, --scale and --plugin, as several commands have them.
void add_system(CLI::App&, SystemOptions&);

/// Lines beside a report go to stderr, and what a simulation has come to is shown there. Progress must outlive it.
RunHooks hooks_with(Progress&);
/// Simulates in this process and writes the report to stdout; the exit status. `topology_text` and `log`: of RunHooks.
int simulate(const spec::RunSpec&, const std::string& topology_text = "", std::shared_ptr<OpLogSink> log = nullptr);

/// --format with its legal values; the first is the default.
void add_format(CLI::App&, std::string& format, std::vector<std::string> legal);

}  // namespace kernbench::cli
