// SPDX-License-Identifier: Apache-2.0
// Flat YAML: explicit `nodes:`, `links:` and `memories:` (rules on interfaces).
#pragma once

#include "kernbench/platform/topology/build/graph_builder.h"
#include "kernbench/platform/topology/read/yaml_reader.h"

namespace kernbench::topology {

/// Reads `nodes`, `links` and `memories` of the file's top-level map into the builder.
void load_flat(YamlMap& top, const ImplCatalog& catalog, GraphBuilder& builder);

}  // namespace kernbench::topology
