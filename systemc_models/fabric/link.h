// SPDX-License-Identifier: Apache-2.0
// A directed edge of the fabric, stored by the block that it leaves. The link mode determines the cost of a message on
// it (link_mode.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/core/timed_call.h"
#include "kernbench/systemc_models/fabric/fabric_observers.h"

namespace kernbench::fabric {

/// Implements "What left one server in an order keeps that order at the next" (timing rules §9) for messages that leave
/// a link. If several become ready for the same next server at one instant, a later one is never ordered before an
/// earlier one, regardless of their own orders. (They may have arrived at different instants: a message's first flit
/// waits for the node's overhead, the others do not.)
class ReadyOrder {
 public:
  /// The order of a message that leaves the link at arrival_ns and becomes ready at ready_ns for the server `next` (a
  /// link, a memory). Arrival times must not decrease.
  Order of(const Order& own, double arrival_ns, double ready_ns, const void* next);

 private:
  struct Entry {
    uint64_t fs;
    const void* next;
    Order order;
  };
  std::vector<Entry> pending_;  ///< from first_ on: entries that become ready at or after the last arrival
  size_t first_ = 0;
  uint64_t latest_fs_ = 0;
};

/// Parameters of a link from an edge of the topology (timing rules §1).
struct LinkParameters {
  double wire_ns = 0;
  double bw_gbs = 0;  ///< effective; 0: unlimited
};

class LinkOutput;

/// State of a link for a link mode.
struct LinkState {
  virtual ~LinkState() = default;
};

struct Link {
  double wire_ns = 0;
  FabricObservers observers;  ///< placed here because ideal links need nothing else, and this is in the cache line of
                              ///< their port
  double bw_gbs = 0;
  double free_ns = 0;  ///< earliest time for the next message (cut_through) or flit (flit)
  double busy_ns = 0;  ///< statistics, like messages
  /// The single upstream source of the link: the link before it, or the block that it leaves (an initiator, a memory).
  /// Null if there are several, or if it is unknown. Messages of a single source arrive in the order in which they left
  /// it, so they can reserve their places early.
  const void* sole_sender = nullptr;
  uint64_t messages = 0;
  uint32_t waiting = 0;          ///< messages of the block that it leaves, on the timeline before their departure
  bool unmixed = false;          ///< flit: flits of a message are consecutive, without flits of others in between
  uint32_t edge = 0;             ///< index in the compiled topology
  LinkOutput* output = nullptr;  ///< finite buffers: waiting senders and the receiver (wormhole_links.h)
  ReadyOrder ready_order;
  std::unique_ptr<LinkState> state;  ///< null unless the mode creates one

  void set(const LinkParameters& p) {
    wire_ns = p.wire_ns;
    bw_gbs = p.bw_gbs;
  }
  double transfer_ns(double nbytes) const { return bw_gbs > 0 ? nbytes / bw_gbs : 0; }
  /// Returns f(), during which the link's bandwidth is at most `gbs`.
  template <class F>
  double at_most(double gbs, F f) {
    const double own = bw_gbs;
    if (own == 0 || gbs < own) bw_gbs = gbs;
    const double result = f();
    bw_gbs = own;
    return result;
  }
  /// A FIFO server: the begin of a transfer of `nbytes` that is ready at ready_ns. s = max(ready, free).
  double take(double ready_ns, double nbytes) {
    const double start = std::max(ready_ns, free_ns), transfer = transfer_ns(nbytes);
    free_ns = start + transfer;
    busy_ns += transfer;
    return start;
  }
};

}  // namespace kernbench::fabric
