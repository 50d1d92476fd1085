// SPDX-License-Identifier: Apache-2.0
// Finite buffers: how virtual channels keep messages from waiting for each other in a circle (docs/flow_control.md).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {

/// Messages of one class wait for none of the other, but where a memory makes a response of a request.
enum MessageClass : uint32_t { kRequests, kResponses, kMessageClasses };

/// Behind the links that are divided, each layer has its share of the virtual channels of a class. A message begins in
/// the first layer, and goes on in the next one behind a dateline. Links are named by their edges.
struct ChannelLayers {
  uint32_t count = 1;
  std::set<uint32_t> divided[kMessageClasses];
  /// By the edge onto which they lead: the edge from which, and the layer in which, a message comes.
  using Datelines = std::set<std::pair<uint32_t, uint32_t>>;
  std::map<uint32_t, Datelines> datelines[kMessageClasses];
};

}  // namespace kernbench::fabric
