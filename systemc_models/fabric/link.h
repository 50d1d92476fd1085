// SPDX-License-Identifier: Apache-2.0
// A directed edge of the fabric as the block that it leaves from keeps it. What a message costs on it is the law of the
// link mode (link_mode.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/core/timed_call.h"
#include "kernbench/systemc_models/fabric/fabric_observers.h"

namespace kernbench::fabric {

/// "What left one server in an order keeps that order at the next" (timing rules §9). Kept by a link for what comes
/// out of it: of messages that become ready at one instant behind the link for the same next server, a later one is
/// never put before an earlier one, whatever their own orders say. (They need not have arrived at one instant: a
/// message's first flit waits for the node's overhead, the others do not.)
class ReadyOrder {
 public:
  /// The order of a message that comes out at arrival_ns and becomes ready at ready_ns for the server `next` (a link, a
  /// memory). Arrivals must not go back.
  Order of(const Order& own, double arrival_ns, double ready_ns, const void* next);

 private:
  struct Entry {
    uint64_t fs;
    const void* next;
    Order order;
  };
  std::vector<Entry> pending_;  ///< ready not before the last arrival, from first_ on
  size_t first_ = 0;
  uint64_t latest_fs_ = 0;
};

/// What an edge of the topology says of a link (timing rules §1).
struct LinkParameters {
  double wire_ns = 0;
  double bw_gbs = 0;  ///< effective; 0: limits nothing
};

class LinkOutput;

/// What a mode keeps of its own for a link.
struct LinkState {
  virtual ~LinkState() = default;
};

struct Link {
  double wire_ns = 0;
  FabricObservers observers;  ///< here: ideal links need no more, in the line of their port
  double bw_gbs = 0;
  double free_ns = 0;  ///< the link takes no message before (cut_through), no flit (flit)
  double busy_ns = 0;  ///< statistics, like messages
  /// Who alone puts messages on it: the link before it, or the block that it leaves (an initiator, a memory). Null if
  /// several can, or if it is not known. What comes from one sender comes in the order in which it left there, so it
  /// takes its place at once, ahead of time.
  const void* sole_sender = nullptr;
  uint64_t messages = 0;
  uint32_t waiting = 0;          ///< messages of the block that it leaves, on the timeline until their turn
  bool unmixed = false;          ///< flit: the flits of one message follow each other, with no other's between
  uint32_t edge = 0;             ///< index in the compiled topology
  LinkOutput* output = nullptr;  ///< finite buffers: who waits for it, and what it leads to (wormhole_links.h)
  ReadyOrder ready_order;
  std::unique_ptr<LinkState> state;  ///< null unless the mode makes one

  void set(const LinkParameters& p) {
    wire_ns = p.wire_ns;
    bw_gbs = p.bw_gbs;
  }
  double transfer_ns(double nbytes) const { return bw_gbs > 0 ? nbytes / bw_gbs : 0; }
  /// One FIFO server: the begin of a transfer of `nbytes` that is ready at ready_ns. s = max(ready, free). `most_gbs`:
  /// the transfer's rate at most; 0: the link's.
  double take(double ready_ns, double nbytes, double most_gbs = 0) {
    const double start = std::max(ready_ns, free_ns);
    const double transfer = most_gbs > 0 ? std::max(nbytes / most_gbs, transfer_ns(nbytes)) : transfer_ns(nbytes);
    free_ns = start + transfer;
    busy_ns += transfer;
    return start;
  }
};

}  // namespace kernbench::fabric
