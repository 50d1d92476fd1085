// SPDX-License-Identifier: Apache-2.0
// kernbench-replay: `kernbench replay` as a program without SystemC.
#include <CLI/CLI.hpp>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/tool/commands.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/log_options.h"
#include "kernbench/phase2/tool/standard_output.h"
#include "kernbench/phase2/tool/usage.h"

namespace {

using namespace kernbench;

int command_line(int argc, char** argv) {
  CLI::App app{"kernbench-replay: Phase 2 of kernbench, from files", "kernbench-replay"};
  app.require_subcommand(1);
  app.set_version_flag("--version", version());
  cli::LogOptions log;
  log.add_to(app);
  const cli::Command replay = cli::add_replay(app);
  if (const auto status = cli::parse(app, argc, argv)) return *status;
  CommandFiles files;
  cli::add_files(files, app);
  replay.files(files);
  log.begin();
  const int status = cli::close_stdout(replay.run());
  logging::check_file();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run_command("kernbench-replay", [&] { return command_line(argc, argv); });
}
