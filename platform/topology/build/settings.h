// SPDX-License-Identifier: Apache-2.0
// Values that override a file: `--set 'NODE-GLOB.ATTR=VALUE'` and `--set 'edge:GLOB.bw_gbs=VALUE'` change the graph,
// `--set 'file:KEY.KEY=VALUE'` changes the file before it is read.
#pragma once

#include <vector>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::topology {

/// Applies the settings of the file, in order. The reader checks later whether the values are legal. A path through a
/// value that is no map, or beyond a list's end, is an error.
void set_in_file(const std::vector<Setting>&, YamlDocument& file, FaultList&);

/// Applies the other settings in order, so that the last one counts, before the graph is finished. Errors name the
/// setting's target: no matching node or edge, an unknown attribute, or an illegal value.
void apply_settings(const std::vector<Setting>&, const ImplCatalog&, Graph&, FaultList&);

}  // namespace kernbench::topology
