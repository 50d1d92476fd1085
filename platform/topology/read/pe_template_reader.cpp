// SPDX-License-Identifier: Apache-2.0
// `cube.pe_template`: the blocks of a PE and the links between them (ADR-0014 D8).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/read/spec.h"

namespace kernbench::topology {
namespace {

constexpr size_t kMostComponents = 64;

// The order of a PE's nodes, independent of the keys' order; other kinds follow by name.
constexpr const char* kOrder[] = {"pe_cpu",  "pe_scheduler", "pe_dma", "pe_fetch_store", "pe_gemm",
                                  "pe_math", "pe_tcm",       "pe_mmu", "pe_ipcq"};

bool comes_before(const PeComponent& a, const PeComponent& b) {
  const auto rank = [](const PeComponent& c) { return std::find(std::begin(kOrder), std::end(kOrder), c.block.kind); };
  return rank(a) != rank(b) ? rank(a) < rank(b) : a.name < b.name;
}

void read_components(YamlMap& map, const ImplCatalog& catalog, PeTemplate& pe) {
  const YamlNode node = map.require("components", "a mapping of block names to {kind, impl, attrs}");
  if (!node.is_defined()) return;
  YamlMap components(node, map.field("components"), map.faults());
  if (components.entries().size() > kMostComponents) {
    map.faults().add(components.line(), components.path(),
                     fmt::format("found {} blocks; legal: at most {}", components.entries().size(), kMostComponents));
    return;
  }
  for (const auto& [name, value] : components.entries()) {
    if (name.empty() || name.find_first_of(". ,\"\\") != std::string::npos) {
      map.faults().add(value.line(), components.field(cut(name)),
                       "found a name with a dot, blank, comma or quote; legal: one word");
      continue;
    }
    // `pe_mmu:` without a value is the block with its defaults.
    if (value.is_null()) {
      pe.components.push_back(
          {name, default_block(name, catalog, components.line(), components.field(name), map.faults())});
      continue;
    }
    YamlMap entry(value, components.field(name), map.faults());
    if (!entry.valid()) continue;
    const Block block = read_block(entry, entry.has("kind") ? "" : name, catalog);
    entry.finish();
    pe.components.push_back({name, block});
  }
  std::sort(pe.components.begin(), pe.components.end(), comes_before);
  const auto dmas = std::count_if(pe.components.begin(), pe.components.end(),
                                  [](const PeComponent& c) { return c.block.kind == "pe_dma"; });
  if (components.valid() && dmas != 1)
    map.faults().add(components.line(), components.path(),
                     fmt::format("found {} blocks of kind pe_dma; legal: one", dmas));
}

std::optional<size_t> read_end(YamlMap& link, const char* key, const PeTemplate& pe) {
  std::vector<std::string> names;
  for (const PeComponent& c : pe.components) names.push_back(c.name);
  if (!link.has(key)) {
    link.require(key, joined(names));
    return std::nullopt;
  }
  return link.choice(key, names);
}

void read_internal_link(YamlNode node, const std::string& path, FaultList& faults, PeTemplate& pe) {
  YamlMap link(node, path, faults);
  if (!link.valid()) return;
  const auto from = read_end(link, "from", pe);
  const auto to = read_end(link, "to", pe);
  PeLink l;
  l.properties.line = link.line();
  l.properties.kind = link.string("kind").value_or(edge_kind::kPeInternal);
  l.properties.distance_mm = link.number_or("distance_mm", 0, NumberRule::not_negative("mm", kMostDistanceMm));
  l.properties.bw_gbs = link.number("bw_gbs", NumberRule::bandwidth());
  l.bidirectional = link.boolean("bidirectional").value_or(true);
  link.finish();
  if (!from || !to) return;
  l.from = *from;
  l.to = *to;
  pe.links.push_back(l);
}

}  // namespace

PeTemplate read_pe_template(YamlMap& cube, const ImplCatalog& catalog) {
  PeTemplate pe;
  const YamlNode node = cube.require("pe_template", "a mapping with components and links");
  if (!node.is_defined()) return pe;
  YamlMap map(node, cube.field("pe_template"), cube.faults());
  if (!map.valid()) return pe;
  read_components(map, catalog, pe);
  const YamlNode links = map.take("links");
  if (links.is_defined() && !links.is_null() && !links.is_list()) {
    map.faults().add(links.line(), map.field("links"), "found " + describe(links) + "; legal: a list of links");
  } else if (links.is_defined() && links.size() > kMostComponents * kMostComponents) {
    map.faults().add(links.line(), map.field("links"),
                     fmt::format("found {} links; legal: at most one from each block to each", links.size()));
  } else if (links.is_defined() && links.is_list()) {
    for (size_t i = 0; i < links.size(); ++i)
      read_internal_link(links[i], map.field("links") + "[" + std::to_string(i) + "]", map.faults(), pe);
  }
  map.finish();
  return pe;
}

}  // namespace kernbench::topology
