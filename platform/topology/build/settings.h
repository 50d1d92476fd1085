// SPDX-License-Identifier: Apache-2.0
// Values that are set over those of a file: `--set 'NODE-GLOB.ATTR=VALUE'`, `--set 'edge:GLOB.bw_gbs=VALUE'` of the
// graph that it makes, `--set 'file:KEY.KEY=VALUE'` of the file before it is read.
#pragma once

#include <vector>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::topology {

/// Puts the values of settings of the file into it, in their order; whether they are legal there is for whoever reads
/// it. A way through a value that is no map, or past a list's end, is a fault.
void set_in_file(const std::vector<Setting>&, YamlDocument& file, FaultList&);

/// Sets the other values in their order, so that the last one counts. The graph is not finished yet: what depends on
/// them follows. A setting that matches no node or edge, names no attribute of what it matches, or has a value that is
/// not legal there is a fault, named by its target.
void apply_settings(const std::vector<Setting>&, const ImplCatalog&, Graph&, FaultList&);

}  // namespace kernbench::topology
