// SPDX-License-Identifier: Apache-2.0
// A machine's area: engines by their multiply-accumulates and lanes, memories by bits and ports, routers by wires and
// buffers, PHYs by bandwidth, HBM by stacks. docs/energy.md has the rules.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/energy/energy_table.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::energy {

struct Silicon {
  std::vector<Action> area;  ///< by kind of block and counted property, in order of first appearance
  std::vector<Die> dies;     ///< equal dies share an entry
  uint64_t packages = 0, hbm_bytes = 0, hbm_stacks = 0;
  Band area_1e9_um2;
};

/// Properties of a node that only an elaborated machine has.
struct Built {
  std::function<uint64_t(uint32_t node)> tcm_bytes;
  std::function<double(uint32_t node)> memory_gbs;  ///< its peak
};

/// Uses the table's constants; all other blocks are listed as blocks of unknown area.
Silicon silicon_of(const topology::Graph&, const ImplCatalog&, const EnergyTable&, const Built&);

}  // namespace kernbench::energy
