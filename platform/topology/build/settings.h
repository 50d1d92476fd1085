// Values that are set over those of a file: `--set 'NODE-GLOB.ATTR=VALUE'`, `--set 'edge:GLOB.bw_gbs=VALUE'`.
#pragma once

#include <vector>

#include "kernbench/platform/topology/build/compiler.h"

namespace kernbench::topology {

/// Sets the values in their order, so that the last one counts. The graph is not finished yet: what depends on them
/// follows. A setting that matches no node or edge, names no attribute of what it matches, or has a value that is not
/// legal there is a fault, named by its target.
void apply_settings(const std::vector<Setting>&, const ImplCatalog&, Graph&, FaultList&);

}  // namespace kernbench::topology
