// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/network_builder.h"

#include <fmt/format.h>

#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/read/block_reader.h"

namespace kernbench::topology {
namespace {

constexpr uint32_t kMostOnAxis = 256;
constexpr const char* kAxisNames[] = {"x", "y"};

struct NetworkSpec {
  Network network;
  Block router;
  LinkProperties link;
  std::string field;
  int line = 0;
};

void read_axes(YamlMap& map, Network& n) {
  const YamlNode size = map.require("size", "a list of columns and rows");
  if (size.is_defined() && (!size.is_list() || size.size() != 2)) {
    map.faults().add(size.line(), map.field("size"), "found " + describe(size) + "; legal: a list of columns and rows");
  } else if (size.is_defined()) {
    for (const size_t axis : {0, 1}) {
      const std::string field = fmt::format("{}[{}]", map.field("size"), axis);
      n.axes[axis].size =
          static_cast<uint32_t>(read_unsigned(size[axis], field, 1, kMostOnAxis, map.faults()).value_or(1));
    }
  }
  const bool wraps = map.boolean("wrap").value_or(false);
  for (const size_t axis : {0, 1}) {
    const std::string key = kAxisNames[axis];
    const size_t flow = map.choice(key, {"both", "up", "down"}).value_or(0);
    n.axes[axis].flow = static_cast<Network::Flow>(flow);
    n.axes[axis].wraps = wraps;
    if (flow > 0 && !wraps && n.axes[axis].size > 1)
      map.faults().add(map.line_of_key(key), map.field(key),
                       "found one direction without wrap: true, so that no message comes back; legal: both");
  }
  n.first = static_cast<uint32_t>(map.choice("routing", {"xy", "yx"}).value_or(0));
}

std::optional<NetworkSpec> read_network(YamlNode node, const std::string& path, const ImplCatalog& catalog,
                                        FaultList& faults) {
  YamlMap map(node, path, faults);
  if (!map.valid()) return std::nullopt;
  NetworkSpec s;
  s.line = map.line();
  s.field = map.field("id");
  const auto id = read_id(map);
  read_axes(map, s.network);
  const YamlNode router = map.take("router");
  if (router.is_defined()) {
    YamlMap block(router, map.field("router"), faults);
    s.router = read_block(block, "router", catalog);
    block.finish();
  } else {
    s.router = default_block("router", catalog, s.line, map.field("router"), faults);
  }
  YamlMap link(map.require("link", "{distance_mm, bw_gbs}"), map.field("link"), faults);
  s.link.kind = edge_kind::kMesh;
  s.link.line = link.line();
  s.link.distance_mm = link.require_number("distance_mm", NumberRule::not_negative("mm", kMostDistanceMm)).value_or(0);
  s.link.bw_gbs = link.number("bw_gbs", NumberRule::bandwidth());
  link.finish();
  map.finish();
  if (!id) return std::nullopt;
  s.network.id = *id;
  return s;
}

/// Links along an axis, in each direction of its flow.
void add_links(const NetworkSpec& s, uint32_t axis, GraphBuilder& builder) {
  const Network& n = s.network;
  const Network::Axis& along = n.axes[axis];
  const auto node = [&](uint32_t on_axis, uint32_t other) {
    return n.routers[axis == 0 ? n.place(on_axis, other) : n.place(other, on_axis)];
  };
  for (uint32_t other = 0; other < n.axes[1 - axis].size; ++other) {
    for (uint32_t i = 0; i + (along.wraps ? 0 : 1) < along.size; ++i) {
      const uint32_t a = node(i, other), b = node((i + 1) % along.size, other);
      if (a == b) continue;
      // A ring of two has one link in each direction, whatever its flow.
      const bool again = along.size == 2 && i == 1;
      if (along.flow == Network::Flow::both && !again) builder.add_link(a, b, s.link, s.field);
      if (along.flow == Network::Flow::up) builder.add_edge(a, b, s.link, s.field);
      if (along.flow == Network::Flow::down) builder.add_edge(b, a, s.link, s.field);
    }
  }
}

}  // namespace

void load_networks(YamlMap& top, const ImplCatalog& catalog, GraphBuilder& builder) {
  const YamlNode list = top.take("networks");
  if (!list.is_defined() || list.is_null()) return;
  if (!list.is_list()) {
    builder.faults().add(list.line(), "networks", "found " + describe(list) + "; legal: a list");
    return;
  }
  size_t index = 0;
  for (const YamlItem& item : list) {
    auto spec = read_network(item.value, fmt::format("networks[{}]", index++), catalog, builder.faults());
    if (!spec) continue;
    Network& n = spec->network;
    for (uint32_t row = 0; row < n.axes[1].size; ++row) {
      for (uint32_t col = 0; col < n.axes[0].size; ++col)
        n.routers.push_back(builder.add_node(naming::router(n.id, row, col), spec->router, {}, spec->field));
    }
    for (const uint32_t axis : {n.first, 1 - n.first}) add_links(*spec, axis, builder);
    builder.graph().networks.push_back(std::move(n));
  }
}

}  // namespace kernbench::topology
