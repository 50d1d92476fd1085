// SPDX-License-Identifier: Apache-2.0
// Finite buffers: virtual channels that prevent cycles of waiting messages (docs/flow_control.md).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {

/// Messages of one class never wait for the other class. The exception is a memory that makes a response from a
/// request.
enum MessageClass : uint32_t { kRequests, kResponses, kMessageClasses };

/// At divided links, each layer has a part of the virtual channels of a class. A message begins in the first layer and
/// changes to the next one after a dateline. Links are named by their edges.
struct ChannelLayers {
  uint32_t count = 1;
  std::set<uint32_t> divided[kMessageClasses];
  /// By the outgoing edge: the incoming edge of a message, and its layer.
  using Datelines = std::set<std::pair<uint32_t, uint32_t>>;
  std::map<uint32_t, Datelines> datelines[kMessageClasses];
};

}  // namespace kernbench::fabric
