// SPDX-License-Identifier: Apache-2.0
// Divides virtual channels into layers, so that no layer has a circular dependency.
#pragma once

#include <vector>

#include "kernbench/platform/topology/route/channel_dependencies.h"
#include "kernbench/platform/topology/route/ways.h"

namespace kernbench::topology {

/// `component`: the strongly connected component of each channel (edge e of requests, edges + e of responses), 0 for
/// none. Stores the datelines of requests and of responses, and returns the number of layers, or kTooMany. In each
/// layer turns are added in the order of their use by most trees; turns that close a cycle become datelines.
uint32_t divide_into_layers(const Ways&, const std::vector<uint32_t>& component, std::vector<Dateline> (&datelines)[2]);

}  // namespace kernbench::topology
