#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/run_command.h"
#include "kernbench/platform/cli/spec_options.h"

namespace kernbench::cli {

Command add_run(CLI::App& app) {
  auto o = std::make_shared<RunCommand>();
  CLI::App* cmd =
      app.add_subcommand("run", "Run a kernel or a program on a system's PEs; time it, and verify its results");
  add_options(*cmd, o->spec);
  return {cmd, [o] { return run(*o); }};
}

}  // namespace kernbench::cli
