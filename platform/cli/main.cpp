// kernbench: the command line. Exit status: 0 done (and verified, where asked), 1 ran and failed, 2 bad usage or input.
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <cstdlib>
#include <systemc>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/standard_output.h"
#include "kernbench/phase2/tool/usage.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/platform/cli/command_line.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/ends_of_kernels.h"
#include "kernbench/platform/cli/help.h"
#include "kernbench/platform/cli/signals.h"

namespace {

using namespace kernbench;

// SystemC prints its banner before sc_main; stdout and stderr are ours.
const bool banner_off = [] {
  if (setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1) == 0) return true;
  cli::say_out_of_memory("kernbench");
  _exit(1);
}();

/// It copies the arguments there too, and would tell on stdout, in lines of its own, where memory is short for that.
const auto told_before_sc_main = sc_core::sc_report_handler::set_handler(
    [](const sc_core::sc_report&, const sc_core::sc_actions&) { cli::say_out_of_memory("kernbench"); });

/// A message's text as cli::tell() writes it.
class EscapedText : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& m, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text = escaped({m.payload.data(), m.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<EscapedText>(); }
};

std::unique_ptr<spdlog::formatter> log_format() {
  auto format = std::make_unique<spdlog::pattern_formatter>();
  format->add_flag<EscapedText>('*').set_pattern("%H:%M:%S.%e %*");
  return format;
}

int run(const cli::Command& c) {
  try {
    const int status = c.run();
    const std::string left = cli::thread_left_by_a_kernel();
    if (!left.empty()) throw RunError(left);
    return status;
  } catch (const topology::TopologyError& e) {
    std::vector<std::string> faults;
    for (const auto& f : e.faults()) faults.push_back(f.to_string());
    throw InputError(std::move(faults));
  }
}

/// SystemC would write the library's warnings to stdout.
void warn_on_stderr(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  const bool warning = report.get_severity() == sc_core::SC_WARNING;
  if (warning) cli::tell(std::string("kernbench: warning: ") + report.get_msg());
  sc_core::sc_report_handler::default_handler(report, warning ? actions & ~sc_core::SC_DISPLAY : actions);
}

/// Once a process.
void set_up() {
  sc_core::sc_report_handler::set_handler(&warn_on_stderr);
  std::ios::sync_with_stdio(false);
  cli::install_signal_handlers();
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  spdlog::set_default_logger(spdlog::stderr_logger_st("kernbench"));
  spdlog::set_formatter(log_format());
}

using AddCommand = cli::Command (*)(CLI::App&);

int command_line(int argc, const char* const* argv, const std::vector<AddCommand>& legal) {
  CLI::App app{"kernbench: transaction-level model of a multi-chiplet AI accelerator", "kernbench"};
  app.require_subcommand(1);
  app.footer("KERNBENCH_CACHE names the folder in which derived meshes are kept, or is off (docs/topology.md).");
  bool verbose = false;
  app.add_flag("-v,--verbose", verbose, "say on stderr what is being done");
  app.set_version_flag("--version", version());
  std::vector<cli::Command> commands;
  for (const AddCommand add : legal) commands.push_back(add(app));
  cli::group_for_help(app);
  cli::refuse_empty_names(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return cli::close_stdout(app.exit(e));  // --help, --version
    cli::tell(cli::usage_fault(app, e));
    return 2;
  }
  spdlog::set_level(verbose ? spdlog::level::info : spdlog::level::warn);
  for (const cli::Command& c : commands) {
    if (c.app->parsed()) return cli::close_stdout(run(c));
  }
  return 2;
}

}  // namespace

int kernbench::cli::do_again(const std::vector<std::string>& words) {
  install_signal_handlers();
  std::vector<const char*> argv = {"kernbench"};
  for (const std::string& w : words) argv.push_back(w.c_str());
  // All of the commands' options take a tenth of a short run to make.
  const auto& make = words.front() == "model" ? add_model : words.front() == "probe" ? add_probe : add_run;
  return run_command("kernbench", [&] { return command_line(static_cast<int>(argv.size()), argv.data(), {make}); });
}

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
