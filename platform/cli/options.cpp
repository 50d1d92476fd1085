// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/spec_options.h"

namespace kernbench::cli {

void PluginOptions::add_to(CLI::App& app) {
  add_option(app, "plugin", files);
}

void add_system(CLI::App& app, SystemOptions& o) {
  add_option(app, "topology", o.file, "topology,--topology");
  add_option(app, "links", o.links);
  add_option(app, "response", o.response);
  add_option(app, "set", o.settings);
  add_option(app, "scale", o.scales);
  add_option(app, "plugin", o.plugins);
}

void add_format(CLI::App& app, std::string& format, std::vector<std::string> legal) {
  format = legal.front();
  app.add_option("--format", format, "output format")->check(CLI::IsMember(legal))->capture_default_str();
}

}  // namespace kernbench::cli
