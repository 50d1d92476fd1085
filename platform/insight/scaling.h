// SPDX-License-Identifier: Apache-2.0
// A machine with one part faster or slower, for what-if studies. Plain C++ without SystemC.
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

/// The scalable parts: the names of the machine's Resource classes, and counts.
struct ScaledPart {
  std::string_view name;   ///< "hbm", "dma_engines"
  std::string_view title;  ///< "HBM bandwidth"
};
const std::vector<ScaledPart>& scaled_parts();

/// The resources of a part's bandwidths, clocks and latencies in the causal graph; none for counts.
std::optional<Resource> resource_of(std::string_view part);

/// Parses "hbm=2": a part and its speed factor. InputError, naming the option, for other forms.
std::pair<std::string, double> part_and_factor(const std::string& option, const std::string& text);
/// Parses "hbm=2,mesh=0.5". InputError also if a part is not in the causal graph, or is repeated.
std::vector<std::pair<Resource, double>> factors_of(const std::string& option, const std::string& text);

/// Makes a part of a compiled system `factor` times as fast. Its bandwidths, clocks and rates are multiplied by the
/// factor; its overheads, distances and look-ups are divided by it. Counts and depths are multiplied, rounded, and at
/// least 1. Attributes declare their part. Returns the number of changed values. InputError for an unknown name.
size_t scale(topology::Graph&, const ImplCatalog&, std::string_view part, double factor);

}  // namespace kernbench::insight
