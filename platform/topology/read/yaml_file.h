// SPDX-License-Identifier: Apache-2.0
// A YAML file's text.
#pragma once

#include <string>

#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::topology {

/// No further than what parse_yaml refuses anyway: a device may have no end. TopologyError where it cannot be opened,
/// InputError where it cannot be read to its end.
std::string read_yaml_file(const std::string& path, FaultList&);

}  // namespace kernbench::topology
