// A machine with a part of it faster or slower, for what-ifs. Plain C++: no SystemC here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::insight {

/// What can be scaled: the classes of Resource that belong to the machine, by their names, and counts.
struct ScaledPart {
  std::string_view name;   ///< "hbm", "dma_engines"
  std::string_view title;  ///< "HBM bandwidth"
};
const std::vector<ScaledPart>& scaled_parts();

/// Makes a part of a compiled system `factor` times as fast: its bandwidths, clocks and rates times the factor, its
/// overheads, distances and look-ups through it, counts (queue_depth, rd_engines, wr_engines) times the factor,
/// rounded, at least 1. Returns how many values it has changed. InputError for a name that is none.
size_t scale(topology::Graph&, const ImplCatalog&, std::string_view part, double factor);

}  // namespace kernbench::insight
