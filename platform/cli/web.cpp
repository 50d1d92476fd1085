#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/cli/commands.h"

namespace kernbench::cli {

Command add_web(CLI::App& app) {
  CLI::App* cmd = app.add_subcommand("web", "A local page to explore a system and a run (not yet)");
  cmd->allow_extras();
  return {cmd, []() -> int { throw InputError("web: not yet"); }};
}

}  // namespace kernbench::cli
