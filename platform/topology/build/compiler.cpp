// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/compiler.h"

#include <fmt/format.h>

#include <filesystem>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/build/builders.h"
#include "kernbench/platform/topology/build/flat_loader.h"
#include "kernbench/platform/topology/build/graph_builder.h"
#include "kernbench/platform/topology/build/mesh_cache.h"
#include "kernbench/platform/topology/build/mesh_planner.h"
#include "kernbench/platform/topology/build/network_builder.h"
#include "kernbench/platform/topology/build/settings.h"
#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/platform/topology/read/block_reader.h"
#include "kernbench/platform/topology/read/energy_reader.h"
#include "kernbench/platform/topology/read/yaml_file.h"
#include "kernbench/platform/topology/read/yaml_reader.h"

namespace kernbench::topology {
namespace {

Floor floor_of(const SystemSpec& s) {
  constexpr const char* kShapes[] = {"none", "ring_1d", "torus_2d", "mesh_2d_no_wrap"};  // by value of SipShape
  return {s.sip.w, s.sip.h, s.tray.w, s.tray.h, kShapes[static_cast<int>(s.tray.shape)]};
}

/// For another version, only the version is reported.
void check_version(YamlMap& top) {
  const YamlNode node = top.take("version");
  if (!node.is_defined()) return;
  const auto version = read_unsigned(node, "version", 0, UINT64_MAX, top.faults());
  if (version && *version != kTopologyVersion)
    top.faults().add(node.line(), "version", fmt::format("found {}; legal: {}", *version, kTopologyVersion));
  top.faults().throw_if_any();
}

/// The `timing:` section, overridden by the command line (rules on interfaces: `flit` implies routed responses).
Timing read_timing(YamlMap& top, const Overrides& overrides) {
  Timing t;
  const YamlNode node = top.take("timing");
  std::optional<Links> links;
  std::optional<Response> response;
  int line = node.line();
  if (node.is_defined() && !node.is_null()) {
    YamlMap map(node, "timing", top.faults());
    const std::vector<std::string> modes = link_modes().names();
    if (const auto i = map.choice("links", modes)) links = modes[*i];
    if (const auto i = map.choice("response", {"ideal", "routed"})) response = static_cast<Response>(*i);
    t.header_bytes = map.number_or("header_bytes", 0, NumberRule::not_negative("bytes", 1e9));
    t.flit_bytes = static_cast<uint32_t>(map.unsigned_or("flit_bytes", 256, 1, 1u << 30));
    t.packet_flits = static_cast<uint32_t>(map.unsigned_number("packet_flits", 1, 1u << 20).value_or(0));
    t.prove_deadlock_free = map.boolean("prove_deadlock_free").value_or(true);
    line = map.line_of_key("response");
    map.finish();
  }
  t.links = overrides.links.value_or(links.value_or(Links()));
  t.response = response.value_or(Response::ideal);
  if (t.links.spec().routed) {
    const bool ideal_in_file = !overrides.links && !overrides.response && response == Response::ideal;
    const std::string fault =
        fmt::format("found '{}' beside links: {}; legal: routed", name_of(Response::ideal), t.links.name());
    if (ideal_in_file) top.faults().add(line, "timing.response", fault);
    if (overrides.response == Response::ideal) top.faults().add(0, "--response", fault);
    t.response = Response::routed;
  } else if (overrides.response) {
    t.response = *overrides.response;
  }
  return t;
}

/// `foreign: [{id, between: [a, b], attrs: {…}}]`: places for user blocks on links.
struct Inserted {
  std::string id, a, b, field;
  Attributes attrs;
  int line = 0;
};

std::vector<Inserted> read_inserted(YamlMap& top, const ImplCatalog& catalog) {
  std::vector<Inserted> all;
  const YamlNode list = top.take("foreign");
  if (!list.is_defined() || list.is_null()) return all;
  if (!list.is_list()) {
    top.faults().add(list.line(), "foreign", "found " + describe(list) + "; legal: a list");
    return all;
  }
  for (const YamlItem& n : list) {
    YamlMap map(n.value, fmt::format("foreign[{}]", all.size()), top.faults());
    if (!map.valid()) continue;
    Inserted i;
    i.id = map.require_string("id", "a text, its own in the file").value_or("");
    i.line = map.line();
    i.field = map.field("between");
    const YamlNode between = map.require("between", "the ids of two neighbours");
    if (between.is_defined() && between.is_list() && between.size() == 2) {
      std::vector<std::string> ends;
      for (const YamlItem& end : between) ends.emplace_back(end.value.text());
      i.a = ends[0];
      i.b = ends[1];
    } else if (between.is_defined()) {
      map.faults().add(between.line(), i.field, "found " + describe(between) + "; legal: a list of two ids");
    }
    i.attrs = read_block(map, kForeignKind, catalog).attrs;
    map.finish();
    all.push_back(std::move(i));
  }
  return all;
}

Graph insert_all(Graph graph, const std::vector<Inserted>& inserted, FaultList& faults) {
  for (const Inserted& i : inserted) {
    try {
      insert_foreign(graph, i.id, i.a, i.b, i.attrs);
    } catch (const InputError& e) {
      faults.add(i.line, i.field, e.what());
    }
  }
  faults.throw_if_any();
  return graph;
}

}  // namespace

Graph compile_text(const std::string& yaml, const std::string& file_name, const ImplCatalog& catalog,
                   const Overrides& overrides, const MeshCache* cache) {
  FaultList faults(file_name);
  YamlDocument document = parse_document(yaml, faults);
  faults.throw_if_any();
  set_in_file(overrides.settings, document, faults);
  faults.throw_if_any();
  YamlMap top(document.root, "", faults);
  faults.throw_if_any();

  check_version(top);

  for (const auto& [name, kind] : catalog.kinds().all()) {
    if (!kind.fault.empty()) faults.add(0, "", kind.fault);
  }
  faults.throw_if_any();

  GraphBuilder builder(catalog.kinds(), faults);
  builder.graph().name = std::filesystem::path(file_name).filename().string();
  builder.graph().ns_per_mm = top.number_or("ns_per_mm", 0.01, NumberRule::not_negative("ns/mm", 1e6));
  builder.graph().timing = read_timing(top, overrides);
  builder.graph().energy = read_energy(top, catalog);
  builder.graph().pe_edges = catalog.kinds().pe_edges();
  const auto materialize = top.choice("materialize", {"none", "outputs", "stores"});
  builder.graph().materialize = overrides.materialize.value_or(static_cast<Materialize>(materialize.value_or(0)));
  if (top.has("cube") || top.has("sip") || top.has("tray")) {
    if (auto system = read_system(top, catalog)) {
      CubeSpec& cube = system->cube;
      if (cube.mesh) cube.mesh->plan = cache ? cache->plan(cube) : plan_mesh(cube);
      build_system(*system, builder);
      builder.graph().floor = floor_of(*system);
    }
  } else {
    load_networks(top, catalog, builder);
    load_flat(top, catalog, builder);
  }
  const std::vector<Inserted> inserted = read_inserted(top, catalog);
  top.finish();
  if (faults.empty()) apply_settings(overrides.settings, catalog, builder.graph(), faults);  // else nodes are missing
  Graph graph = insert_all(builder.finish(), inserted, faults);
  logging::info(logging::Room::topology, [&] {
    return fmt::format("compiled {}: {} nodes, {} edges, {} PEs", file_name, graph.nodes.size(), graph.edges.size(),
                       graph.pes.size());
  });
  return graph;
}

Graph compile_file(const std::string& path, const ImplCatalog& catalog, const Overrides& overrides,
                   const MeshCache* cache) {
  FaultList faults(path);
  const std::string text = read_yaml_file(path, faults);
  logging::debug(logging::Room::topology, [&] { return fmt::format("read {}: {} bytes", path, text.size()); });
  return compile_text(text, path, catalog, overrides, cache);
}

}  // namespace kernbench::topology
