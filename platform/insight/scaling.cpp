// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/systemc_models/core/effective_attributes.h"

namespace kernbench::insight {
namespace {

using topology::Graph;
using topology::Node;

/// How a part's factor changes an attribute of a node; 1: not at all.
double factor_of(std::string_view part, const Node& node, const AttrSpec& attribute, double factor) {
  if (attribute.limit != Limit::none && part == scale_name_of(attribute.limit)) return factor;
  const auto resource = resource_of(attribute, node);
  if (!resource || part != name_of(*resource)) return 1;
  if (attribute.direction == Direction::rate || attribute.direction == Direction::depth) return factor;
  return attribute.direction == Direction::latency ? 1 / factor : 1;
}

AttrValue times(const AttrValue& value, double factor) {
  if (const auto* n = std::get_if<int64_t>(&value))
    return std::max<int64_t>(1, std::llround(static_cast<double>(*n) * factor));
  if (const auto* map = std::get_if<NumberMap>(&value)) {
    NumberMap scaled = *map;
    for (auto& [key, number] : scaled) number *= factor;
    return scaled;
  }
  return std::get<double>(value) * factor;
}

size_t scale_nodes(Graph& graph, const ImplCatalog& catalog, std::string_view part, double factor) {
  size_t changed = 0;
  for (Node& node : graph.nodes) {
    const ImplSpec* impl = catalog.find(node.impl);
    if (!impl) continue;
    for (const auto& [spec, value] : effective_attributes(*impl, node.attrs)) {
      const double f = factor_of(part, node, *spec, factor);
      if (f == 1) continue;
      const AttrValue scaled = times(value, f);
      if (scaled == value) continue;
      node.attrs.set(spec->name, scaled);
      ++changed;
    }
  }
  return changed;
}

}  // namespace

const std::vector<ScaledPart>& scaled_parts() {
  static const std::vector<ScaledPart> parts = [] {
    std::vector<ScaledPart> all;
    for (size_t i = 0; i < kResources; ++i) {
      const auto r = static_cast<Resource>(i);
      if (r != Resource::host && r != Resource::kernel && r != Resource::buffers && r != Resource::other)
        all.push_back({name_of(r), title_of(r)});
    }
    for (size_t i = kLimits; i-- > 0;) {
      const auto l = static_cast<Limit>(i);
      if (!scale_name_of(l).empty()) all.push_back({scale_name_of(l), scale_title_of(l)});
    }
    return all;
  }();
  return parts;
}

std::optional<Resource> resource_of(std::string_view part) {
  for (size_t i = 0; i < kResources; ++i) {
    const auto r = static_cast<Resource>(i);
    const auto is = [&](const ScaledPart& p) { return p.name == part && part == name_of(r); };
    if (std::any_of(scaled_parts().begin(), scaled_parts().end(), is)) return r;
  }
  return {};
}

std::pair<std::string, double> part_and_factor(const std::string& option, const std::string& text) {
  constexpr double kMost = 1e6;
  const auto [part, value] = name_and_value(option, text, "PART=FACTOR");
  double factor = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), factor);
  if (error != std::errc() || end != value.data() + value.size() || !(factor >= 1 / kMost && factor <= kMost))
    throw InputError(
        fmt::format("{} {}: found {}; legal: a factor from 1e-06 to 1e+06", option, part, in_quotes(value)));
  return {part, factor};
}

std::vector<std::pair<Resource, double>> factors_of(const std::string& option, const std::string& text) {
  std::vector<std::pair<Resource, double>> all;
  for (const std::string& word : parts_between(',', text)) {
    const auto [part, factor] = part_and_factor(option, word);
    const auto r = resource_of(part);
    if (!r) {
      std::vector<std::string> legal;
      for (const ScaledPart& p : scaled_parts()) {
        if (resource_of(p.name)) legal.emplace_back(p.name);
      }
      throw InputError(
          fmt::format("{}: found {}{} legal: {}", option, in_quotes(part), did_you_mean(part, legal), joined(legal)));
    }
    if (std::any_of(all.begin(), all.end(), [r = *r](const auto& o) { return o.first == r; }))
      throw InputError(fmt::format("{}: found {} twice, expected each part once", option, part));
    all.emplace_back(*r, factor);
  }
  return all;
}

size_t scale(Graph& graph, const ImplCatalog& catalog, std::string_view part, double factor) {
  const auto& parts = scaled_parts();
  if (std::none_of(parts.begin(), parts.end(), [&](const ScaledPart& p) { return p.name == part; })) {
    std::vector<std::string> legal;
    for (const ScaledPart& p : parts) legal.emplace_back(p.name);
    throw InputError(fmt::format("--scale: found {}{} legal: {}", in_quotes(part),
                                 did_you_mean(std::string(part), legal), joined(legal)));
  }
  size_t changed = scale_nodes(graph, catalog, part, factor);
  if (part == name_of(Resource::wires)) {
    graph.ns_per_mm /= factor;
    return changed + 1;
  }
  for (topology::Edge& e : graph.edges) {
    if (!e.bw_gbs || name_of(resource_of(graph, e)) != part) continue;
    *e.bw_gbs *= factor;
    ++changed;
  }
  return changed;
}

}  // namespace kernbench::insight
