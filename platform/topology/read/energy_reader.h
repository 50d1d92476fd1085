// SPDX-License-Identifier: Apache-2.0
// The `energy:` section of a topology, in its file or in a separate one (docs/energy.md).
#pragma once

#include <memory>
#include <string>

#include "kernbench/phase2/energy/energy_table.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

class YamlMap;

/// The section of a topology's top-level map; the path of a separate file is relative to the topology's file. Null
/// without such a section. TopologyError, with that file's lines, for errors in a separate file.
std::shared_ptr<const energy::EnergyTable> read_energy(YamlMap& top, const ImplCatalog&);

/// A file with only the contents of `energy:`. TopologyError with all errors.
std::shared_ptr<const energy::EnergyTable> read_energy_file(const std::string& path, const ImplCatalog&);

}  // namespace kernbench::topology
