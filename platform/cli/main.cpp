// SPDX-License-Identifier: Apache-2.0
// kernbench: the command line. Exit status: 0 success (and verified, if requested), 1 ran and failed, 2 bad usage or
// input.
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <systemc>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/log_options.h"
#include "kernbench/phase2/tool/standard_output.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/help.h"
#include "kernbench/platform/entry/signals.h"

namespace {

using namespace kernbench;

// SystemC would print its banner before sc_main.
const bool banner_off = [] {
  install_signal_handlers();  // afterwards an interrupt prints its line
  if (setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1) == 0) return true;
  cli::say_out_of_memory("kernbench");
  _exit(1);
}();

/// SystemC also copies the arguments, and would report lack of memory on stdout in its own format.
const auto told_before_sc_main = sc_core::sc_report_handler::set_handler(
    [](const sc_core::sc_report&, const sc_core::sc_actions&) { cli::say_out_of_memory("kernbench"); });

/// All files must be distinct before any is opened.
int run(const cli::Command& c, const CLI::App& app, const cli::LogOptions& log) {
  try {
    CommandFiles files;
    cli::add_files(files, app);
    if (c.files) c.files(files);
    log.begin();
    const int status = c.run();
    const std::string left = thread_left_by_a_kernel();
    if (!left.empty()) throw RunError(left);
    return status;
  } catch (const topology::TopologyError& e) {
    std::vector<std::string> faults;
    for (const auto& f : e.faults()) faults.push_back(f.to_string());
    throw InputError(std::move(faults));
  }
}

/// SystemC would print the library's warnings on stdout.
void warn_on_stderr(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  const bool warning = report.get_severity() == sc_core::SC_WARNING;
  if (warning) cli::tell(std::string("kernbench: warning: ") + report.get_msg());
  sc_core::sc_report_handler::default_handler(report, warning ? actions & ~sc_core::SC_DISPLAY : actions);
}

/// Once per process.
void set_up() {
  sc_core::sc_report_handler::set_handler(&warn_on_stderr);
  std::ios::sync_with_stdio(false);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
}

using AddCommand = cli::Command (*)(CLI::App&);

int command_line(int argc, const char* const* argv, const std::vector<AddCommand>& legal) {
  CLI::App app{"kernbench: transaction-level model of a multi-chiplet AI accelerator", "kernbench"};
  app.require_subcommand(1);
  app.footer("Environment: KERNBENCH_CACHE=FOLDER caches derived meshes there; off: no cache (docs/topology.md).");
  cli::LogOptions log;
  log.add_to(app);
  app.set_version_flag("--version", version());
  std::vector<cli::Command> commands;
  for (const AddCommand add : legal) commands.push_back(add(app));
  const auto add_options = [&](const cli::Command& c) {
    if (!c.options) return;
    c.options();
    cli::group_for_help(app);
    cli::check_values(*c.app);
  };
  for (const cli::Command& c : commands) c.app->preparse_callback([&](size_t) { add_options(c); });
  cli::group_for_help(app);
  if (const auto status = cli::parse(app, argc, argv)) return *status;
  for (const cli::Command& c : commands) {
    if (!c.app->parsed()) continue;
    if (c.reads_program) std::for_each(commands.begin(), commands.end(), add_options);
    const int status = cli::close_stdout(run(c, app, log));
    logging::check_file();
    return status;
  }
  return 2;
}

}  // namespace

int sc_main(int argc, char** argv) {
  (void)banner_off;
  sc_core::sc_report_handler::set_handler(told_before_sc_main);
  return cli::run_command("kernbench", [&] {
    set_up();
    return command_line(argc, argv,
                        {cli::add_run, cli::add_model, cli::add_replay, cli::add_probe, cli::add_traffic,
                         cli::add_pipeline, cli::add_topology, cli::add_collectives, cli::add_sweep, cli::add_serve,
                         cli::add_tune, cli::add_list, cli::add_web, cli::add_whatif, cli::add_diff, cli::add_report,
                         cli::add_completion, cli::add_complete, cli::add_man});
  });
}
