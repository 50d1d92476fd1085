// SPDX-License-Identifier: Apache-2.0
// `ports` of a cube and of an IO chiplet: attachments of foreign initiators.
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"

#include <fmt/format.h>

#include "kernbench/platform/topology/read/spec.h"

namespace kernbench::topology {
namespace {

constexpr size_t kMostPorts = 256;

/// `at`: a router of the mesh, `noc` if there is one, or `peN` in a crossbar cube.
void read_place(YamlMap& map, const CubeSpec& cube, PortSpec& port) {
  const auto at = map.require_string("at", cube.mesh     ? "a router such as r0c1"
                                           : cube.single ? "noc"
                                                         : "noc, pe0, pe1, …");
  if (!at) return;
  if (cube.mesh) {
    const auto cell = parse_cell(*at);
    if (cell && cell->row < cube.mesh->rows && cell->col < cube.mesh->cols &&
        !cube.mesh->is_hole(cell->row, cell->col)) {
      port.router = *cell;
      return;
    }
  } else {
    if (*at == "noc") return;
    for (uint32_t p = 0; cube.crossbar && p < cube.pes; ++p) {
      if (*at != "pe" + std::to_string(p)) continue;
      port.pe = static_cast<int>(p);
      return;
    }
  }
  map.faults().add(map.line_of_key("at"), map.field("at"),
                   "found '" + cut(*at) + "'; legal: " +
                       (cube.mesh ? "a router such as r0c1, below r" + std::to_string(cube.mesh->rows) + "c" +
                                        std::to_string(cube.mesh->cols) + " and outside the exclusion zone"
                        : cube.single ? "noc"
                                      : "noc, or pe0 to pe" + std::to_string(cube.pes - 1)));
}

}  // namespace

std::vector<PortSpec> read_ports(YamlMap& owner, const CubeSpec* cube, const ImplCatalog& catalog) {
  std::vector<PortSpec> ports;
  const YamlNode list = owner.take("ports");
  if (!list.is_defined() || list.is_null()) return ports;
  if (!list.is_list() || list.size() > kMostPorts) {
    owner.faults().add(list.line(), owner.field("ports"),
                       "found " + (list.is_list() ? std::to_string(list.size()) + " ports" : describe(list)) +
                           "; legal: a list of at most " + std::to_string(kMostPorts));
    return ports;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    YamlMap map(list[i], fmt::format("{}[{}]", owner.field("ports"), i), owner.faults());
    if (!map.valid()) continue;
    PortSpec port;
    port.block = read_block(map, "port", catalog);
    if (cube && (cube->mesh || cube->crossbar || cube->single)) read_place(map, *cube, port);
    port.link.kind = edge_kind::kPort;
    port.link.line = map.line();
    port.link.distance_mm = map.number_or("distance_mm", 0, NumberRule::not_negative("mm", kMostDistanceMm));
    port.link.bw_gbs = map.require_number("bw_gbs", NumberRule::bandwidth());
    map.finish();
    ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace kernbench::topology
