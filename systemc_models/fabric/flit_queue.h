// SPDX-License-Identifier: Apache-2.0
// A queue of flits that wait to leave a node: finite buffers (wormhole_links.h).
#pragma once

#include <cstdint>

#include "kernbench/systemc_models/fabric/channel_layers.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/flit.h"

namespace kernbench::fabric {

struct OutputChannel;

/// Credits of queues between PEs travel opposite to the data, like responses.
inline uint32_t class_of(const Flit& f) {
  const FabricTransaction& x = *f.transaction;
  return f.response || (x.message && x.channel == FabricInitiator::kCredit) ? kResponses : kRequests;
}

/// The first flit is offered to its link when it is ready.
struct FlitQueue {
  enum class Place : uint8_t { initiator, input, branch, memory };
  explicit FlitQueue(Place p) : place(p) {}
  void append(Flit& f) {
    f.behind = nullptr;
    (first ? last->behind : first) = &f;
    last = &f;
  }
  void pop() { first = first->behind; }
  /// Whether its flits wait at a node that forwards them, after they arrived over a link.
  bool passes_on() const { return place == Place::input || place == Place::branch; }

  Place place;
  bool offered = false;
  uint32_t edge = 0;  ///< for an input: the edge by which its flits come
  Flit* first = nullptr;
  Flit* last = nullptr;
  uint64_t rank = 0;              ///< among the senders onto one link
  OutputChannel* onto = nullptr;  ///< held by the first flit's message, after that link
};

}  // namespace kernbench::fabric
