// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/plan_options.h"
#include "kernbench/platform/study/sweep/server.h"
#include "kernbench/platform/study/sweep/store.h"

namespace kernbench::cli {
namespace {

struct ServeCommand {
  sweep::ServeOptions options;
  bool stdio = false;
  std::vector<std::string> command;
};

int serve_points(ServeCommand& c) {
  if (!c.stdio) throw InputError("serve: needs --stdio, requests on stdin and answers on stdout");
  if (!c.command.empty()) c.options.base = c.command;
  c.options.version = version();
  sweep::serve(c.options, STDIN_FILENO, STDOUT_FILENO);
  return 0;
}

}  // namespace

Command add_serve(CLI::App& app) {
  auto c = std::make_shared<ServeCommand>();
  CLI::App* cmd =
      app.add_subcommand("serve", "Simulate points on request, as lines of JSON, for an optimiser in any language");
  cmd->add_flag("--stdio", c->stdio, "requests on stdin, answers on stdout");
  add_workers(*cmd, c->options.jobs, c->options.timeout_s);
  CLI::Option* store = cmd->add_option("--store", c->options.store,
                                       "keep the points in this file; answer requests for stored points from it");
  writes_file(store->type_name("FILE.sqlite"), sweep::Store::files);
  cmd->add_option("command", c->command, "after --: run or model, with the options that all points share");
  cmd->footer(
      "echo '{\"id\": 1, \"options\": {\"param.n\": 64}}' | kernbench serve --stdio -- run --topology small.yaml "
      "--kernel gemm\n"
      "docs/optimisers.md");
  const auto files = [c](CommandFiles& f) {
    f.reads("stdin", "/dev/stdin");
    if (!c->command.empty()) sweep::add_files(f, {c->command, {}, {}, {}, {}});
  };
  return {cmd, [c] { return serve_points(*c); }, files};
}

}  // namespace kernbench::cli
