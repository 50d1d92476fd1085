// SPDX-License-Identifier: Apache-2.0
// Flits that wait at a node to go on, one behind the other: finite buffers (wormhole_links.h).
#pragma once

#include <cstdint>

#include "kernbench/systemc_models/fabric/channel_layers.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/flit.h"

namespace kernbench::fabric {

struct OutputChannel;

/// Credits of queues between PEs travel against the way of the data, as responses do.
inline uint32_t class_of(const Flit& f) {
  const FabricTransaction& x = *f.transaction;
  return f.response || (x.message && x.channel == FabricInitiator::kCredit) ? kResponses : kRequests;
}

/// The first is offered to its link when it is ready.
struct FlitQueue {
  enum class Place : uint8_t { initiator, input, branch, memory };
  explicit FlitQueue(Place p) : place(p) {}
  void append(Flit& f) {
    f.behind = nullptr;
    (first ? last->behind : first) = &f;
    last = &f;
  }
  void pop() { first = first->behind; }
  /// Whether its flits have come over a link to a node that passes them on.
  bool passes_on() const { return place == Place::input || place == Place::branch; }

  Place place;
  bool offered = false;
  uint32_t edge = 0;  ///< of an input: over which its flits come
  Flit* first = nullptr;
  Flit* last = nullptr;
  uint64_t rank = 0;              ///< among those that send onto one link
  OutputChannel* onto = nullptr;  ///< that the first flit's message holds behind that link
};

}  // namespace kernbench::fabric
