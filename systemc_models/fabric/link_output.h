// SPDX-License-Identifier: Apache-2.0
// The sender's side of a link of finite buffers (docs/flow_control.md): the credits that it has for each virtual
// channel at the far end, and the flits that wait to take the link.
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

/// A virtual channel at the far end. Without a limit: a number by which a message goes.
struct OutputChannel {
  uint32_t message_class, number;
  uint32_t room;       ///< credits; without a limit never none
  uint32_t layer = 0;  ///< that it belongs to, where the link's channels are divided
  bool held = false;   ///< by a message, from its first flit to its last
};

/// The flits of a response that have left its memory and wait for the link.
struct ResponseQueue : FlitQueue {
  explicit ResponseQueue(LinkOutput& o) : FlitQueue(Place::memory), output(&o) {}
  LinkOutput* output;
  Outlet* outlet = nullptr;
};

/// Where a memory's responses leave it.
struct Outlet {
  uint32_t waiting = 0;                ///< flits
  std::vector<InputChannel*> stalled;  ///< whose first flit would make a response, but there is no room for it
};

class LinkOutput {
 public:
  LinkOutput(WormholeLinks& mode, FabricPort& port);

  WormholeLinks& mode;
  FabricPort& port;  ///< at the near end
  Link& link;
  FlitQueue source{FlitQueue::Place::initiator};  ///< of messages that begin here
  bool asked = false;                             ///< whether it is about to be decided who takes the link

  OutputChannel& channel(uint32_t message_class, uint32_t number) { return channels_[message_class][number]; }
  const std::deque<OutputChannel>& channels(uint32_t message_class) const { return channels_[message_class]; }
  const InputBuffers& far_buffers() const { return far_; }
  const std::vector<FlitQueue*>& offers() const { return offers_; }
  void offer(FlitQueue& q) { offers_.push_back(&q); }
  /// Whose flit takes the link, as far as there is room for it behind: by the turn, or who is ready longest. Null:
  /// nobody.
  FlitQueue* choose();
  /// The chosen one's flit goes: it is offered no longer, and has the virtual channel by which it goes.
  void take(FlitQueue&);
  /// Whether it is decided at each arrival, or when all that become ready at the instant have (SwitchAllocator).
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
  Router* const router_;  ///< one of a user's own, which is asked; else null
  const bool at_arrival_;
  const uint32_t node_;
  const uint32_t rank_;
  std::deque<OutputChannel> channels_[kMessageClasses];
  std::vector<OutputChannel*> idle_[kMessageClasses];  ///< without a limit: those that no message has
  uint32_t last_taken_[kMessageClasses] = {};
  uint32_t layers_[kMessageClasses] = {1, 1};  ///< that its channels are divided into
  ChannelLayers::Datelines datelines_[kMessageClasses];
  std::vector<FlitQueue*> offers_;
  std::deque<ResponseQueue> responses_;
  std::vector<ResponseQueue*> idle_responses_;
  uint64_t last_rank_ = 0;  ///< who had the last turn
};

}  // namespace kernbench::fabric
