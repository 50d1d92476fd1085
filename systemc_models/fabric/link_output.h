// Flow control of one link of finite buffers (docs/flow_control.md): the virtual channels at its far end as the sender
// sees them, and the flits that wait to take it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "kernbench/systemc_models/fabric/channel_layers.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/fabric/input_buffers.h"

namespace kernbench {

class WormholeLinks;
struct Outlet;
struct VirtualChannel;

/// Credits of queues between PEs travel against the way of the data, as responses do.
uint32_t class_of(const Flit&);

/// Flits that go on one behind the other. The first is offered to its link when it is ready.
struct FlitQueue {
  enum class Place : uint8_t { initiator, input, memory };
  explicit FlitQueue(Place p) : place(p) {}
  void append(Flit& f);
  void pop();

  Place place;
  bool offered = false;
  Flit* first = nullptr;
  Flit* last = nullptr;
  uint64_t rank = 0;               ///< among those that send onto one link
  VirtualChannel* onto = nullptr;  ///< that the first flit's message holds behind that link
};

/// A virtual channel of a link, and the buffer at its far end.
struct VirtualChannel : FlitQueue {
  static constexpr uint32_t kNoLimit = ~0u;
  VirtualChannel(LinkOutput& o, uint32_t c, uint32_t n, uint32_t flits)
      : FlitQueue(Place::input), output(&o), message_class(c), number(n), room(flits ? flits : kNoLimit) {}
  bool limited() const { return room != kNoLimit; }

  LinkOutput* output;
  uint32_t message_class, number;
  uint32_t layer = 0;   ///< that it belongs to, where the link's channels are divided
  uint32_t room;        ///< credits that the sender has
  uint32_t inside = 0;  ///< flits that have been sent and have not gone on
  bool held = false;    ///< by a message, from its first flit to its last
  // At the far end.
  uint32_t stored = 0;  ///< at a node that stores and forwards: its first flits, which have left the buffer
  Flit* last_stored = nullptr;
  bool forwards = false;          ///< at such a node: it is known when its first message goes on
  FabricPort* serving = nullptr;  ///< at a memory: by which the flit has come whose turn at its server is still to come
};

/// The flits of a response that have left its memory and wait for the link.
struct ResponseQueue : FlitQueue {
  explicit ResponseQueue(LinkOutput& o) : FlitQueue(Place::memory), output(&o) {}
  LinkOutput* output;
  Outlet* outlet = nullptr;
};

/// Where a memory's responses leave it.
struct Outlet {
  uint32_t waiting = 0;                  ///< flits
  std::vector<VirtualChannel*> stalled;  ///< whose first flit would make a response, but there is no room for it
};

class LinkOutput {
 public:
  LinkOutput(WormholeLinks& mode, FabricPort& port);

  WormholeLinks& mode;
  FabricPort& port;  ///< at the near end
  Link& link;
  FlitQueue source{FlitQueue::Place::initiator};  ///< of messages that begin here
  bool asked = false;                             ///< whether it is about to be decided who takes the link

  VirtualChannel& channel(uint32_t message_class, uint32_t number) { return channels_[message_class][number]; }
  const std::deque<VirtualChannel>& channels(uint32_t message_class) const { return channels_[message_class]; }
  const InputBuffers& far_buffers() const { return far_; }
  const std::vector<FlitQueue*>& offers() const { return offers_; }
  void offer(FlitQueue& q) { offers_.push_back(&q); }
  /// Whose flit takes the link, as far as there is room for it behind: by the turn, or who is ready longest. Null:
  /// nobody.
  FlitQueue* choose();
  /// The chosen one's flit goes: it is offered no longer; the virtual channel by which it goes.
  VirtualChannel& take(FlitQueue&);
  /// A flit has gone on from a channel's far end.
  void gone(VirtualChannel&);
  /// First come, first served, as on links without buffers: there it is decided at each arrival. In turns: when all
  /// that become ready at the instant have.
  bool oldest_first() const { return oldest_first_; }
  Order order() const { return oldest_first_ ? credit_order() : Order(Order::kArbitration, node_, rank_); }
  Order credit_order() const { return {Order::kCredits, node_, rank_}; }

  ResponseQueue& acquire_response();
  void release_response(ResponseQueue& q) { idle_responses_.push_back(&q); }

 private:
  bool goes_before(const FlitQueue& a, const FlitQueue& b) const;
  uint32_t next_layer(const FlitQueue&) const;
  VirtualChannel* find_channel(const FlitQueue&);
  bool can_go(const FlitQueue&);

  const InputBuffers far_;
  const bool oldest_first_;
  const uint32_t node_;
  uint32_t rank_, far_rank_;  ///< of the ports at its ends, among those of their nodes
  std::deque<VirtualChannel> channels_[kMessageClasses];
  std::vector<VirtualChannel*> idle_[kMessageClasses];  ///< without a limit: those that no message has
  uint32_t last_taken_[kMessageClasses] = {};
  uint32_t layers_[kMessageClasses] = {1, 1};  ///< that its channels are divided into
  ChannelLayers::Datelines datelines_[kMessageClasses];
  std::vector<FlitQueue*> offers_;
  std::deque<ResponseQueue> responses_;
  std::vector<ResponseQueue*> idle_responses_;
  uint64_t last_rank_ = 0;  ///< who had the last turn
};

}  // namespace kernbench
