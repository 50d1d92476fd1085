// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/flat_loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/space.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/read/block_reader.h"

namespace kernbench::topology {
namespace {

std::string item(const char* list, size_t i) {
  return fmt::format("{}[{}]", list, i);
}

/// Calls `read` for every element; a value that is no list is an error.
template <typename Read>
void for_each_item(YamlNode list, const char* name, FaultList& faults, const Read& read) {
  if (!list.is_defined() || list.is_null()) return;
  if (!list.is_list()) {
    faults.add(list.line(), name, "found " + describe(list) + "; legal: a list");
    return;
  }
  size_t i = 0;
  for (const YamlItem& n : list) read(n.value, item(name, i++));
}

void read_node(YamlNode n, const std::string& path, const ImplCatalog& catalog, GraphBuilder& builder) {
  YamlMap map(n, path, builder.faults());
  if (!map.valid()) return;
  const auto id = read_id(map);
  const Block block = read_block(map, "", catalog);
  map.finish();
  if (!id) return;
  builder.add_node(*id, block, {}, map.field("id"));
}

uint32_t read_end(YamlMap& map, const char* key, const GraphBuilder& builder,
                  const std::vector<std::string>& ids_for_hints) {
  const auto id = map.require_string(key, "the id of a node");
  if (!id) return kNoNode;
  const uint32_t n = builder.find(*id);
  if (n == kNoNode) {
    map.faults().add(
        map.line_of_key(key), map.field(key),
        "found '" + cut(*id) + "', which is no node" + did_you_mean(*id, ids_for_hints) + " legal: the id of a node");
  }
  return n;
}

void read_link(YamlNode n, const std::string& path, GraphBuilder& builder,
               const std::vector<std::string>& ids_for_hints) {
  YamlMap map(n, path, builder.faults());
  if (!map.valid()) return;
  const uint32_t from = read_end(map, "from", builder, ids_for_hints);
  const uint32_t to = read_end(map, "to", builder, ids_for_hints);
  LinkProperties p;
  p.line = map.line();
  p.kind = map.string("kind").value_or("link");
  p.distance_mm = map.require_number("distance_mm", NumberRule::not_negative("mm", kMostDistanceMm)).value_or(0);
  const YamlNode bw = map.take("bw_gbs");
  if (bw.is_defined() && !bw.is_null())
    p.bw_gbs = read_number(bw, map.field("bw_gbs"), NumberRule::bandwidth(), builder.faults());
  const bool both_ways = map.boolean("bidirectional").value_or(true);
  map.finish();
  if (from == kNoNode || to == kNoNode) return;
  for (const Network& network : builder.graph().networks) {
    const auto has = [&](uint32_t end) { return end >= network.routers.front() && end <= network.routers.back(); };
    if (!has(from) || !has(to)) continue;
    builder.faults().add(p.line, path,
                         fmt::format("found a link inside network '{}'; legal: its own alone", network.id));
    return;
  }
  if (both_ways)
    builder.add_link(from, to, p, path);
  else
    builder.add_edge(from, to, p, path);
}

void read_memory(YamlNode n, const std::string& path, GraphBuilder& builder,
                 const std::vector<std::string>& ids_for_hints) {
  YamlMap map(n, path, builder.faults());
  if (!map.valid()) return;
  const uint32_t node = read_end(map, "node", builder, ids_for_hints);
  const std::string legal = "hbm, sram, or " + std::string(kSpaceNames);
  auto space = map.require_string("space", legal);
  if (space && (!is_space_name(*space) || *space == name_of(Space::tcm))) {
    builder.faults().add(map.line_of_key("space"), map.field("space"), "found '" + *space + "'; legal: " + legal);
    space.reset();
  }
  const auto base = map.require_unsigned("base", 0, UINT64_MAX);
  const auto size = map.require_unsigned("size", 1, UINT64_MAX);
  map.finish();
  if (node == kNoNode || !space || !base || !size) return;
  builder.add_memory(node, *space, *base, *size, map.line());
}

}  // namespace

void load_flat(YamlMap& top, const ImplCatalog& catalog, GraphBuilder& builder) {
  FaultList& faults = builder.faults();
  const YamlNode nodes = top.require("nodes", "a list of nodes");
  const YamlNode links = top.take("links");
  const YamlNode memories = top.take("memories");
  const size_t count = nodes.is_defined() && nodes.is_list() ? nodes.size() : 0;
  if (count > kMostNodes) {
    faults.add(nodes.line(), "nodes", fmt::format("found {} nodes; legal: at most {}", count, kMostNodes));
    return;
  }
  if (count == 0) faults.add(nodes.line(), "nodes", "found no node; legal: at least one");
  builder.reserve(count, links.is_defined() && links.is_list() ? 2 * links.size() : 0);
  for_each_item(nodes, "nodes", faults,
                [&](YamlNode n, const std::string& path) { read_node(n, path, catalog, builder); });

  // Suggestions use only the first few hundred ids, which suffices for handwritten files.
  std::vector<std::string> hints;
  for (size_t i = 0; i < builder.graph().nodes.size() && i < 500; ++i) hints.push_back(builder.graph().nodes[i].id);
  for_each_item(links, "links", faults,
                [&](YamlNode n, const std::string& path) { read_link(n, path, builder, hints); });
  for_each_item(memories, "memories", faults,
                [&](YamlNode n, const std::string& path) { read_memory(n, path, builder, hints); });
}

}  // namespace kernbench::topology
