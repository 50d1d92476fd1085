// SPDX-License-Identifier: Apache-2.0
// A block's impl and attrs in YAML, checked against the implementation's declaration.
#pragma once

#include <optional>
#include <string>

#include "kernbench/platform/topology/graph/block.h"
#include "kernbench/platform/topology/read/yaml_reader.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Reads `kind` (required unless `fixed_kind` is given), `impl`, `transit` and `attrs` of a map. The caller reads its
/// own keys and calls finish(). Errors are noted; a block is returned anyway.
Block read_block(YamlMap& map, const std::string& fixed_kind, const ImplCatalog& catalog);
/// The block of a kind that is absent from the file: builtin implementation, no attributes. Missing required attributes
/// are errors at `line`.
Block default_block(const std::string& kind, const ImplCatalog& catalog, int line, const std::string& field,
                    FaultList& faults);

/// Sets the attribute to the value, or notes an error for an illegal value. `id` names a node or a group of nodes; it
/// is required and restricted to the characters of ids.
std::optional<std::string> read_id(YamlMap& map);

void read_attribute(YamlNode, const std::string& field, const AttrSpec&, Attributes&, FaultList&);

}  // namespace kernbench::topology
