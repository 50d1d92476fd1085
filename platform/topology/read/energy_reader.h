// SPDX-License-Identifier: Apache-2.0
// The `energy:` section of a topology, in it or in a file of its own (docs/energy.md).
#pragma once

#include <memory>
#include <string>

#include "kernbench/phase2/energy/energy_table.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

class YamlMap;

/// Of a topology's top-level map; a file that it names is looked for beside the topology's own. Null where there is no
/// such section; TopologyError for faults of a file of its own, which are told by that file's lines.
std::shared_ptr<const energy::EnergyTable> read_energy(YamlMap& top, const ImplCatalog&);

/// A file that holds nothing but what stands below `energy:`. TopologyError with every fault.
std::shared_ptr<const energy::EnergyTable> read_energy_file(const std::string& path, const ImplCatalog&);

}  // namespace kernbench::topology
