// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::cli {

Command add_topology(CLI::App& app) {
  struct Options {
    SystemOptions topology;
    std::string format, view, id;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("topology", "Compile a topology and print or draw it");
  add_system(*cmd, o->topology);
  cmd->add_option("--view", o->view, "level of a drawing: tray, sip, cube, pe or flat (all nodes)")
      ->check(CLI::IsMember({"tray", "sip", "cube", "pe", "flat"}));
  cmd->add_option("--id", o->id, "SIP, cube or PE of a drawing; default: the first")->type_name("ID");
  add_format(*cmd, o->format, {"text", "json", "dot", "svg"});
  return {cmd, [o] {
            const topology::Graph graph = o->topology.compile();
            const auto view = topology::parse_view(o->view).value_or(topology::default_view(graph));
            const bool drawing = o->format == "dot" || o->format == "svg";
            if (!drawing && (!o->view.empty() || !o->id.empty()))
              throw InputError("--view and --id are for --format svg and dot");
            try {
              if (o->format == "text") {
                topology::print_text(graph, std::cout);
                topology::print_keys_left_out(graph, component_catalog(), std::cout);
              }
              if (o->format == "json") topology::print_json(graph, std::cout);
              if (o->format == "dot") topology::print_dot(graph, view, std::cout, o->id);
              if (o->format == "svg") topology::print_svg(graph, view, std::cout, o->id);
            } catch (const std::invalid_argument& e) {
              throw InputError("--view: " + std::string(e.what()));
            }
            return 0;
          }};
}

}  // namespace kernbench::cli
