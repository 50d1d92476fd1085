// SPDX-License-Identifier: Apache-2.0
// How virtual channels are divided into layers, so that no layer's channels depend on each other in a circle.
#pragma once

#include <vector>

#include "kernbench/platform/topology/route/channel_dependencies.h"
#include "kernbench/platform/topology/route/ways.h"

namespace kernbench::topology {

/// `component`: of each channel (edge e of requests, edges + e of responses) the strongly connected one that it is in,
/// 0 for none. Puts the datelines of requests and of responses there and returns the number of layers, or kTooMany. In
/// each layer the turns that most trees of ways take there come first, and those that close a cycle are datelines.
uint32_t divide_into_layers(const Ways&, const std::vector<uint32_t>& component, std::vector<Dateline> (&datelines)[2]);

}  // namespace kernbench::topology
