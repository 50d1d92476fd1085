// SPDX-License-Identifier: Apache-2.0
// A machine with a part of it faster or slower, for what-ifs. Plain C++: no SystemC here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/platform/insight/resource.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::insight {

/// What can be scaled: the classes of Resource that belong to the machine, by their names, and counts.
struct ScaledPart {
  std::string_view name;   ///< "hbm", "dma_engines"
  std::string_view title;  ///< "HBM bandwidth"
};
const std::vector<ScaledPart>& scaled_parts();

/// What a part's bandwidths, clocks and latencies are of a run's causes; of counts, none.
std::optional<Resource> resource_of(std::string_view part);

/// "hbm=2": a part, how many times as fast. InputError, with the option that has it, for words of another form.
std::pair<std::string, double> part_and_factor(const std::string& option, const std::string& text);
/// "hbm=2,mesh=0.5". InputError, too, where a part is none of a run's causes, or stands twice.
std::vector<std::pair<Resource, double>> factors_of(const std::string& option, const std::string& text);

/// Makes a part of a compiled system `factor` times as fast: its bandwidths, clocks and rates times the factor, its
/// overheads, distances and look-ups through it, counts and depths times the factor, rounded, at least 1. Attributes
/// declare which part they belong to. Returns how many values it has changed. InputError for a name that is none.
size_t scale(topology::Graph&, const ImplCatalog&, std::string_view part, double factor);

}  // namespace kernbench::insight
