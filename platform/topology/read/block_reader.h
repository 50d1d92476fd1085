// SPDX-License-Identifier: Apache-2.0
// A block's impl and attrs as YAML gives them, checked against what the implementation declares.
#pragma once

#include <optional>
#include <string>

#include "kernbench/platform/topology/graph/block.h"
#include "kernbench/platform/topology/read/yaml_reader.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Reads `kind` (required unless `fixed_kind` says it), `impl`, `transit` and `attrs` of a map; the caller reads its
/// own keys and calls finish(). Faults are noted; a block is returned all the same.
Block read_block(YamlMap& map, const std::string& fixed_kind, const ImplCatalog& catalog);
/// The block of a kind that the file says nothing about: builtin implementation, no attributes. Required attributes
/// are faults at `line`.
Block default_block(const std::string& kind, const ImplCatalog& catalog, int line, const std::string& field,
                    FaultList& faults);

/// Sets the attribute to what the value says; a value that is not legal is a fault instead.
/// `id` of a node, or of what nodes are named by: required, without what ids must not have.
std::optional<std::string> read_id(YamlMap& map);

void read_attribute(YamlNode, const std::string& field, const AttrSpec&, Attributes&, FaultList&);

}  // namespace kernbench::topology
