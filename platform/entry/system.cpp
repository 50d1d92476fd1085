// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/entry/system.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/unused_attributes.h"
#include "kernbench/platform/topology/build/mesh_cache.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench {
namespace {

using SystemName = std::vector<std::string>;
constexpr size_t kMostShared = 8;

/// By name; null: one point of the system has ended.
std::map<SystemName, std::optional<topology::Graph>>& shared_systems() {
  static std::map<SystemName, std::optional<topology::Graph>> all;
  return all;
}

/// The options that determine the compilation.
SystemName name_of_system(const SystemOptions& o) {
  SystemName name = {o.file, o.links, o.response, o.materialize, o.yaml};
  for (const auto* list : {&o.settings, &o.scales}) {
    name.push_back(std::to_string(list->size()));
    name.insert(name.end(), list->begin(), list->end());
  }
  return name;
}

/// In a forked process: the already compiled system; usable once.
std::optional<topology::Graph> take_shared_system(const SystemOptions& options) {
  if (shared_systems().empty() || !options.plugins.empty()) return std::nullopt;
  const auto known = shared_systems().find(name_of_system(options));
  return known == shared_systems().end() ? std::nullopt : std::exchange(known->second, std::nullopt);
}

}  // namespace

SystemOptions::SystemOptions(const spec::RunSpec& run)
    : file(run.text("topology")),
      plugins(run.list("plugin")),
      links(run.text("links")),
      response(run.text("response")),
      materialize(run.text("materialize")),
      settings(run.list("set")),
      scales(run.list("scale")) {}

std::vector<Plugin> SystemOptions::load_plugins() const {
  std::vector<Plugin> loaded;
  for (const std::string& name : plugins) loaded.push_back(load_plugin(name));
  return loaded;
}

std::string SystemOptions::text() const {
  if (!yaml.empty()) return yaml;
  check_topology_name(file);
  const std::string name = topology_file(file);
  std::ifstream in = open_input(name);
  return read_all(in, name);
}

topology::Graph SystemOptions::compile() const {
  if (auto shared = take_shared_system(*this)) return std::move(*shared);
  load_plugins();
  topology::Overrides overrides;
  if (!links.empty()) {
    const LinkModeSpec* mode = link_modes().find(links);
    if (!mode)
      throw InputError("--links: found " + in_quotes(links) + did_you_mean(links, link_modes().names()) +
                       " legal: " + link_modes().names_text());
    if (mode->routed && response == "ideal")
      throw InputError("--response: found ideal beside --links " + links + ", whose responses are routed");
    overrides.links = links;
  }
  if (!response.empty()) overrides.response = response == "routed" ? Response::routed : Response::ideal;
  using topology::Materialize;
  for (const Materialize m : {Materialize::none, Materialize::outputs, Materialize::stores}) {
    if (materialize == name_of(m)) overrides.materialize = m;
  }
  for (const std::string& setting : settings) {
    const auto [target, value] = name_and_value("--set", setting, "TARGET=VALUE");
    overrides.settings.emplace_back(target, value);
  }
  if (yaml.empty()) check_topology_name(file);
  const topology::MeshCache cache(topology::default_cache_folder());
  topology::Graph graph = yaml.empty()
                              ? topology::compile_file(topology_file(file), component_catalog(), overrides, &cache)
                              : topology::compile_text(yaml, file, component_catalog(), overrides, &cache);
  for (const std::string& scale : scales) {
    const auto [part, factor] = insight::part_and_factor("--scale", scale);
    if (insight::scale(graph, component_catalog(), part, factor) == 0 && factor != 1)
      logging::info(logging::Room::topology, [&, part_text = scale] {
        return fmt::format("--scale {}: nothing in {} changes", part_text, graph.name);
      });
  }
  return graph;
}

Platform& SystemOptions::build() const {
  Platform& platform = *new Platform("system", compile());
  for (const std::string& line : unused_attributes(platform)) {
    logging::warn(logging::Room::elaborate, [&] { return line; });
  }
  return platform;
}

void share_system(const spec::RunSpec& run) try {
  const SystemOptions options(run);
  if (!options.plugins.empty()) return;
  const auto known = shared_systems().find(name_of_system(options));
  if (known == shared_systems().end()) {
    if (shared_systems().size() < kMostShared) shared_systems().emplace(name_of_system(options), std::nullopt);
  } else if (!known->second) {
    known->second = options.compile();
  }
} catch (const std::exception&) {
  // The next point will report the error.
}

}  // namespace kernbench
