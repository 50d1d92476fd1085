// SPDX-License-Identifier: Apache-2.0
// The sending end of a link with finite buffers (docs/flow_control.md): its credits for each virtual channel at the far
// end, and the flits that wait for the link.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "kernbench/systemc_models/fabric/channel_layers.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/flit_queue.h"
#include "kernbench/systemc_models/fabric/input_buffers.h"

namespace kernbench::fabric {

class Router;
class WormholeLinks;
struct Outlet;
struct InputChannel;

/// A virtual channel at the far end. Without a limit: a number for a message.
struct OutputChannel {
  uint32_t message_class, number;
  uint32_t room;       ///< credits; without a limit never 0
  uint32_t layer = 0;  ///< its layer, if the link's channels are divided
  bool held = false;   ///< by a message, from its first flit to its last
};

/// Flits of a response that have left its memory and wait for the link.
struct ResponseQueue : FlitQueue {
  explicit ResponseQueue(LinkOutput& o) : FlitQueue(Place::memory), output(&o) {}
  LinkOutput* output;
  Outlet* outlet = nullptr;
};

/// The departure of a memory's responses.
struct Outlet {
  uint32_t waiting = 0;                ///< flits
  std::vector<InputChannel*> stalled;  ///< whose first flit would make a response that does not fit
};

class LinkOutput {
 public:
  LinkOutput(WormholeLinks& mode, FabricPort& port);

  WormholeLinks& mode;
  FabricPort& port;  ///< at the near end
  Link& link;
  FlitQueue source{FlitQueue::Place::initiator};  ///< for messages that begin here
  bool asked = false;                             ///< an arbitration of the link is pending

  OutputChannel& channel(uint32_t message_class, uint32_t number) { return channels_[message_class][number]; }
  const std::deque<OutputChannel>& channels(uint32_t message_class) const { return channels_[message_class]; }
  const InputBuffers& far_buffers() const { return far_; }
  const std::vector<FlitQueue*>& offers() const { return offers_; }
  void offer(FlitQueue& q) { offers_.push_back(&q); }
  /// The queue whose flit takes the link, if there is buffer space behind it: by the allocator, or the oldest. Null:
  /// none.
  FlitQueue* choose();
  /// The selected flit departs: it is no longer offered, and has a virtual channel.
  void take(FlitQueue&);
  /// Whether arbitration happens at each arrival, or after all flits of the instant are ready (SwitchAllocator).
  bool at_arrival() const { return at_arrival_; }
  Order order() const { return {at_arrival_ ? Order::kLinks : Order::kArbitration, node_, rank_}; }
  Order credit_order() const { return {Order::kCredits, node_, rank_}; }

  ResponseQueue& acquire_response();
  void release_response(ResponseQueue& q) { idle_responses_.push_back(&q); }

 private:
  FlitQueue* choose_as_router();
  uint32_t next_layer(const FlitQueue&) const;
  OutputChannel* find_channel(const FlitQueue&);
  bool can_go(const FlitQueue&);
  bool limited() const { return far_.flits > 0; }

  const InputBuffers far_;
  const SwitchAllocator& allocator_;
  Router* const router_;  ///< a user-defined router, which arbitrates; else null
  const bool at_arrival_;
  const uint32_t node_;
  const uint32_t rank_;
  std::deque<OutputChannel> channels_[kMessageClasses];
  std::vector<OutputChannel*> idle_[kMessageClasses];  ///< without a limit: unused ones
  uint32_t last_taken_[kMessageClasses] = {};
  uint32_t layers_[kMessageClasses] = {1, 1};  ///< number of layers of its channels
  ChannelLayers::Datelines datelines_[kMessageClasses];
  std::vector<FlitQueue*> offers_;
  std::deque<ResponseQueue> responses_;
  std::vector<ResponseQueue*> idle_responses_;
  uint64_t last_rank_ = 0;  ///< of the last winner
};

}  // namespace kernbench::fabric
