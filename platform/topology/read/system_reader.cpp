// SPDX-License-Identifier: Apache-2.0
// The hierarchical file: `tray`, `sip`, `io_chiplet`, and `cube` (cube_reader.cpp).
#include <fmt/format.h>

#include <cmath>

#include "kernbench/platform/topology/graph/address_map.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/read/spec.h"

namespace kernbench::topology {
namespace {

/// A section of the file; an absent optional one is an invalid map without an error.
YamlNode section(YamlMap& top, const char* key, bool required) {
  return required ? top.require(key, "a mapping") : top.take(key);
}

/// `count`, `w` and `h`: without w and h the grid must be square.
void read_sip_grid(YamlMap& tray, TraySpec& spec) {
  const YamlNode node = tray.take("sips");
  if (!node.is_defined()) return;
  YamlMap sips(node, tray.field("sips"), tray.faults());
  if (!sips.valid()) return;
  const auto count = sips.require_unsigned("count", 1, kMostSips);
  const auto w = sips.unsigned_number("w", 1, kMostSips);
  const auto h = sips.unsigned_number("h", 1, kMostSips);
  sips.finish();
  if (!count) return;
  spec.sips = static_cast<uint32_t>(*count);
  const auto side = static_cast<uint64_t>(std::lround(std::sqrt(static_cast<double>(*count))));
  spec.w = static_cast<uint32_t>(w.value_or(h ? *count / *h : side));
  spec.h = static_cast<uint32_t>(h.value_or(w ? *count / *w : side));
  if (uint64_t{spec.w} * spec.h != *count)
    tray.faults().add(
        sips.line(), sips.path(),
        fmt::format("found count {} on a grid of {} x {}; legal: w * h = count (without w and h: a square)", *count,
                    spec.w, spec.h));
}

TraySpec read_tray(YamlMap& top, const ImplCatalog& catalog) {
  TraySpec spec;
  const YamlNode node = section(top, "tray", false);
  if (!node.is_defined()) return spec;
  YamlMap tray(node, "tray", top.faults());
  if (!tray.valid()) return spec;
  read_sip_grid(tray, spec);
  spec.gap_mm = tray.number_or("gap_mm", spec.gap_mm, NumberRule::not_negative("mm", 1e4));
  if (const auto shape = tray.choice("shape", {"none", "ring_1d", "torus_2d", "mesh_2d_no_wrap"}))
    spec.shape = static_cast<SipShape>(*shape);
  if (tray.has("switch"))
    spec.pcie_switch = read_block_at(tray, "switch", "switch", catalog);
  else
    tray.take("switch");  // so that misspelt keys suggest it
  const bool needs_links = spec.pcie_switch || spec.shape != SipShape::none;
  const char* legal = "a mapping with pcie_ep_to_switch and, with a shape, pcie_ep_to_pcie_ep";
  YamlMap links(needs_links ? tray.require("links", legal) : tray.take("links"), "tray.links", top.faults());
  if (links.valid()) {
    if (spec.pcie_switch)
      spec.pcie_ep_to_switch = read_link(links, "pcie_ep_to_switch", edge_kind::kPcie, true, std::nullopt);
    if (spec.shape != SipShape::none)
      spec.pcie_ep_to_pcie_ep = read_link(links, "pcie_ep_to_pcie_ep", edge_kind::kPcie, true, std::nullopt);
    links.finish();
  }
  tray.finish();
  return spec;
}

void read_io_placements(YamlMap& sip, SipSpec& spec) {
  const YamlNode list = sip.take("io_chiplets");
  if (!list.is_defined() || list.is_null()) return;
  if (!list.is_list() || list.size() > kMostIoChiplets) {
    sip.faults().add(list.line(), sip.field("io_chiplets"),
                     "found " + (list.is_list() ? std::to_string(list.size()) + " chiplets" : describe(list)) +
                         "; legal: a list of at most " + std::to_string(kMostIoChiplets) + " (address map)");
    return;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    YamlMap io(list[i], fmt::format("{}[{}]", sip.field("io_chiplets"), i), sip.faults());
    if (!io.valid()) continue;
    io.require("side", "N, E, S, W");
    const auto side = io.choice("side", {"N", "E", "S", "W"});
    io.finish();
    if (side) spec.io.push_back({static_cast<Side>(*side), io.line()});
  }
}

SipSpec read_sip(YamlMap& top, bool has_ucie) {
  SipSpec spec;
  const YamlNode node = section(top, "sip", true);
  if (!node.is_defined()) return spec;
  YamlMap sip(node, "sip", top.faults());
  if (!sip.valid()) return spec;
  spec.line = sip.line();
  const YamlNode cubes = sip.require("cubes", "a mapping {w, h}");
  if (cubes.is_defined()) {
    YamlMap grid(cubes, "sip.cubes", top.faults());
    spec.w = static_cast<uint32_t>(grid.require_unsigned("w", 1, kMostCubes).value_or(1));
    spec.h = static_cast<uint32_t>(grid.require_unsigned("h", 1, kMostCubes).value_or(1));
    grid.finish();
    if (spec.w * spec.h > kMostCubes)
      top.faults().add(grid.line(), "sip.cubes",
                       fmt::format("found {} cubes; legal: at most {} (address map)", spec.w * spec.h, kMostCubes));
  }
  spec.gap_mm = sip.number_or("gap_mm", spec.gap_mm, NumberRule::not_negative("mm", 1e4));
  read_io_placements(sip, spec);
  const bool needs_ucie = spec.w * spec.h > 1 || !spec.io.empty();
  if (needs_ucie && !has_ucie)
    top.faults().add(spec.line, "cube.ucie",
                     "missing, with cubes or IO chiplets to connect; legal: a mapping with ports");
  const YamlNode links =
      needs_ucie ? sip.require("links", "a mapping with ucie and, for IO chiplets, io_ucie") : sip.take("links");
  if (links.is_defined()) {
    YamlMap map(links, "sip.links", top.faults());
    if (spec.w * spec.h > 1 || map.has("ucie")) spec.ucie = read_link(map, "ucie", edge_kind::kUcie, true, spec.gap_mm);
    if (!spec.io.empty() || map.has("io_ucie"))
      spec.io_ucie = read_link(map, "io_ucie", edge_kind::kUcie, true, std::nullopt);
    map.finish();
  }
  sip.finish();
  return spec;
}

IoChipletSpec read_io_chiplet(YamlMap& top, bool required, const ImplCatalog& catalog) {
  IoChipletSpec spec;
  const YamlNode node = section(top, "io_chiplet", required);
  if (!node.is_defined()) return spec;
  YamlMap io(node, "io_chiplet", top.faults());
  if (!io.valid()) return spec;
  spec.depth_mm = io.number_or("depth_mm", spec.depth_mm, NumberRule::positive("mm", 1e4));
  spec.pcie_ep = read_block_at(io, "pcie_ep", "pcie_ep", catalog);
  spec.io_cpu = read_block_at(io, "io_cpu", "io_cpu", catalog);
  spec.noc = read_block_at(io, "noc", "io_noc", catalog);
  YamlMap ucie(io.require("ucie", "a mapping with ports and connections"), "io_chiplet.ucie", top.faults());
  if (ucie.valid()) {
    spec.ports = static_cast<uint32_t>(ucie.unsigned_or("ports", 4, 1, 64));
    spec.connections = static_cast<uint32_t>(ucie.unsigned_or("connections", 4, 1, 64));
    spec.port = read_block_at(ucie, "port", "ucie", catalog);
    spec.connection = read_block_at(ucie, "connection", "ucie", catalog);
    ucie.finish();
  }
  spec.foreign_ports = read_ports(io, nullptr, catalog);
  YamlMap links(io.require("links", "a mapping of links to {distance_mm, bw_gbs}"), "io_chiplet.links", top.faults());
  if (links.valid()) {
    spec.pcie_ep_to_noc = read_link(links, "pcie_ep_to_noc", edge_kind::kIo, true, std::nullopt);
    spec.io_cpu_to_noc = read_link(links, "io_cpu_to_noc", edge_kind::kIo, true, std::nullopt);
    spec.noc_to_ucie = read_link(links, "noc_to_ucie", edge_kind::kIo, true, std::nullopt);
    spec.ucie_to_port = read_link(links, "ucie_to_port", edge_kind::kIo, true, std::nullopt);
    links.finish();
  }
  io.finish();
  return spec;
}

}  // namespace

LinkSpec read_link(YamlMap& links, const std::string& key, const char* kind, bool needs_bandwidth,
                   std::optional<double> default_distance_mm) {
  LinkSpec spec;
  spec.kind = kind;
  spec.distance_mm = default_distance_mm;
  spec.line = links.line_of_key(key);
  const YamlNode node = needs_bandwidth ? links.require(key, "a mapping {distance_mm, bw_gbs}") : links.take(key);
  if (!node.is_defined()) return spec;
  YamlMap link(node, links.field(key), links.faults());
  if (!link.valid()) return spec;
  if (const auto mm = link.number("distance_mm", NumberRule::not_negative("mm", kMostDistanceMm)))
    spec.distance_mm = mm;
  const NumberRule rule = NumberRule::bandwidth();
  spec.bw_gbs = needs_bandwidth ? link.require_number("bw_gbs", rule) : link.number("bw_gbs", rule);
  link.finish();
  return spec;
}

Block read_block_at(YamlMap& map, const std::string& key, const std::string& kind, const ImplCatalog& catalog) {
  const YamlNode node = map.take(key);
  if (!node.is_defined() || node.is_null())
    return default_block(kind, catalog, map.line_of_key(key), map.field(key), map.faults());
  YamlMap block_map(node, map.field(key), map.faults());
  if (!block_map.valid()) return Block{};
  Block block = read_block(block_map, kind, catalog);
  block_map.finish();
  return block;
}

std::optional<SystemSpec> read_system(YamlMap& top, const ImplCatalog& catalog) {
  SystemSpec spec;
  const size_t before = top.faults().count();
  const YamlNode cube_node = section(top, "cube", true);
  if (cube_node.is_defined()) {
    YamlMap cube(cube_node, "cube", top.faults());
    if (cube.valid()) spec.cube = read_cube(cube, catalog);
  }
  spec.tray = read_tray(top, catalog);
  spec.sip = read_sip(top, spec.cube.ucie.has_value() || !cube_node.is_defined());
  spec.io = read_io_chiplet(top, !spec.sip.io.empty(), catalog);
  if (spec.tray.sips > 1 && !spec.tray.pcie_switch && spec.tray.shape == SipShape::none)
    top.faults().add(top.line(), "tray.switch", "missing, with more than one SIP; legal: a mapping, or a tray.shape");
  if (spec.tray.shape != SipShape::none && spec.sip.io.empty())
    top.faults().add(spec.sip.line, "sip.io_chiplets", "missing, with SIPs to connect; legal: a list of at least one");
  const uint64_t nodes = uint64_t{spec.tray.sips} * spec.sip.w * spec.sip.h * spec.cube.nodes();
  if (nodes > kMostNodes)
    top.faults().add(spec.cube.line, "cube",
                     fmt::format("found about {} nodes in all; legal: at most {}", nodes, kMostNodes));
  if (top.faults().count() > before) return std::nullopt;
  return spec;
}

}  // namespace kernbench::topology
