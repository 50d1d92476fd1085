// SPDX-License-Identifier: Apache-2.0
// What of a machine takes area: engines by their multiply-accumulates and lanes, memories by their bits and ports,
// routers by their wires and buffers, PHYs by what they carry, HBM by its stacks. docs/energy.md has the rules.
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
  std::vector<Action> area;  ///< by kind of block and what of it is counted, in order of first appearance
  std::vector<Die> dies;     ///< alike ones together
  uint64_t packages = 0, hbm_bytes = 0, hbm_stacks = 0;
  Band area_1e9_um2;
};

/// What only a machine that is built knows of a node.
struct Built {
  std::function<uint64_t(uint32_t node)> tcm_bytes;
  std::function<double(uint32_t node)> memory_gbs;  ///< that it delivers at most
};

/// By what the table has constants of; the rest is listed as blocks, whose area is not known.
Silicon silicon_of(const topology::Graph&, const ImplCatalog&, const EnergyTable&, const Built&);

}  // namespace kernbench::energy
