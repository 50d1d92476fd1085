// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/unused_attributes.h"

#include <fmt/format.h>

#include <cstdint>

#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench {
namespace {

/// Blocks with the same message.
struct Blocks {
  std::string first, detail;
  size_t count = 0;
  void add(const std::string& id, const std::string& what) {
    if (count++ > 0) return;
    first = id;
    detail = what;
  }
  std::string names() const { return first + (count > 1 ? fmt::format(" and {} more", count - 1) : ""); }
};

}  // namespace

std::vector<std::string> unused_attributes(Platform& platform) {
  const topology::Graph& g = platform.graph();
  const LinkMode& mode = platform.system().mode();
  std::vector<double> serves(g.nodes.size(), 0);  // bandwidth by memory, besides its edge
  Blocks narrow, inefficient, unasked;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const auto* router = dynamic_cast<const Router*>(&platform.component(n));
    if (router && !mode.links_serve() && router->chooses_first()) unasked.add(g.nodes[n].id, g.nodes[n].impl);
    const auto* memory = dynamic_cast<const MemoryTarget*>(&platform.component(n));
    if (!memory || !memory->is_past_its_edge()) continue;
    serves[n] = memory->most_gbs(0);
    const topology::Node& node = g.nodes[n];
    if (!mode.links_serve() && node.attrs.number("efficiency", 1.0) < 1) inefficient.add(node.id, node.impl);
  }
  for (const topology::Edge& e : g.edges) {
    for (const uint32_t n : {e.from, e.to}) {
      if (!e.bw_gbs || *e.bw_gbs >= serves[n]) continue;
      narrow.add(g.nodes[n].id, fmt::format("edge of {} GB/s, channels of {} GB/s", *e.bw_gbs, serves[n]));
      serves[n] = 0;  // counts once
    }
  }
  const std::string links = "with links: " + topology::name_of(g.timing.links);
  const std::string instead =
      "; the data path ends before this edge, so the channels limit the rate (links: flit counts both)";
  std::vector<std::string> lines;
  if (narrow.count > 0) {
    lines.push_back(fmt::format("{}: {}: {} bw_gbs of the edge to the memory {}{}", narrow.names(), narrow.detail,
                                links, mode.links_serve() ? "slows only accesses after it" : "does nothing", instead));
  }
  if (inefficient.count > 0)
    lines.push_back(fmt::format("{}: {} efficiency does nothing{}", inefficient.names(), links, instead));
  if (unasked.count > 0)
    lines.push_back(fmt::format("{}: {}: {} never asks first(): such links are no servers", unasked.names(),
                                unasked.detail, links));
  return lines;
}

}  // namespace kernbench
