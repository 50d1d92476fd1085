// SPDX-License-Identifier: Apache-2.0
// `networks:` of a flat file: generates routers on a grid and the links between them.
#pragma once

#include "kernbench/platform/topology/build/graph_builder.h"
#include "kernbench/platform/topology/read/yaml_reader.h"

namespace kernbench::topology {

/// Adds the routers of each network, "ID.rRcC", and its links. They precede the file's own nodes and links.
void load_networks(YamlMap& top, const ImplCatalog&, GraphBuilder&);

}  // namespace kernbench::topology
