// SPDX-License-Identifier: Apache-2.0
// A YAML file's text.
#pragma once

#include <string>

#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::topology {

/// Reads at most as much as parse_yaml accepts, because a device may be endless. TopologyError if the file cannot be
/// opened, InputError if it cannot be read completely.
std::string read_yaml_file(const std::string& path, FaultList&);

}  // namespace kernbench::topology
