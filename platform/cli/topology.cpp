#include <iostream>
#include <memory>

#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/errors.h"
#include "kernbench/platform/topology/print.h"

namespace kernbench::cli {

Command add_topology(CLI::App& app) {
  struct Options {
    TopologyOptions topology;
    std::string format, view;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("topology", "Compile a system and show it");
  o->topology.add_to(*cmd, true);
  cmd->add_option("--view", o->view, "tray, sip, cube or pe (not yet)")->type_name("NAME");
  add_format(*cmd, o->format, {"text", "json", "dot", "svg"});
  return {cmd, [o] {
            if (!o->view.empty()) throw InputError("--view: not yet");
            const topology::Graph graph = o->topology.compile();
            if (o->format == "json") {
              topology::print_json(graph, std::cout);
            } else {
              throw InputError("--format " + o->format + ": not yet");
            }
            return 0;
          }};
}

}  // namespace kernbench::cli
