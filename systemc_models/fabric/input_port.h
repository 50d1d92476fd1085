// SPDX-License-Identifier: Apache-2.0
// The receiving end of a link with finite buffers (docs/flow_control.md): the flits that have arrived over it and wait
// at the node. Of the sender it has only constants: its position in the order of an instant, and the length of the
// wire.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/flit_queue.h"
#include "kernbench/systemc_models/fabric/input_buffers.h"

namespace kernbench::fabric {

class InputPort;
struct Fork;

/// A multicast's branch at a fork: copies of the flits that it has yet to take (docs/flow_control.md).
struct Branch : FlitQueue {
  Branch(Fork& f, FabricTransaction& x) : FlitQueue(Place::branch), fork(f), transaction(x) {}
  Fork& fork;
  FabricTransaction& transaction;  ///< carries the message from here on
  uint32_t taken = 0;              ///< number of flits that have left
};

/// A multicast at a fork, from its first flit's arrival until every branch has taken the last. The flits in the buffer
/// only hold their room; a flit leaves when every branch has taken its copy.
struct Fork {
  explicit Fork(InputChannel& v) : input(v) {}
  InputChannel& input;
  bool comes = true;             ///< its last flit has not arrived
  std::vector<Branch> branches;  ///< the first has the transaction of the arriving message
};

/// The buffer of a virtual channel; without a limit, of one message.
struct InputChannel : FlitQueue {
  InputChannel(InputPort& p, uint32_t c, uint32_t n) : FlitQueue(Place::input), port(p), message_class(c), number(n) {}

  InputPort& port;
  const uint32_t message_class, number;
  uint32_t stored = 0;  ///< at a store-and-forward node: number of first flits that have left the buffer
  Flit* last_stored = nullptr;
  bool forwards = false;                 ///< at such a node: the departure time of its first message is known
  std::list<Fork> forks;                 ///< forks of messages in it, in their order
  FabricTransaction* serving = nullptr;  ///< at a memory: transaction whose flit has left the queue but was not served
                                         ///< yet
};

/// Two ports that are reached by one link share one.
class InputPort {
 public:
  explicit InputPort(FabricPort& in);
  InputPort(const InputPort&) = delete;
  InputPort& operator=(const InputPort&) = delete;

  FabricPort& port;
  const InputBuffers buffers;
  const double wire_ns;    ///< of the link; delay of a credit
  const Order order;       ///< of actions on a flit that precede all departures of the instant
  ReadyOrder ready_order;  ///< of the flits that leave the link

  bool limited() const { return buffers.flits > 0; }
  /// A flit has arrived.
  InputChannel& append(Flit&);
  /// Removes the first flit.
  void pop(InputChannel&);
  /// Removes a flit that may be behind others.
  void remove(InputChannel&, Flit&);
  InputChannel& channel(uint32_t message_class, uint32_t number) { return *by_number_[message_class][number]; }

 private:
  struct Arriving {
    const FabricTransaction* transaction;
    bool response;
    InputChannel* queue;
  };
  InputChannel& add(uint32_t message_class, uint32_t number);
  InputChannel& queue_of(const Flit&);

  const uint64_t rank_;  ///< of the port in its node
  std::deque<InputChannel> channels_;
  std::vector<InputChannel*> by_number_[kMessageClasses];  ///< with a limit
  // Without a limit: the channels of messages in progress, and unused ones.
  std::vector<Arriving> arriving_;
  std::vector<InputChannel*> idle_;
};

}  // namespace kernbench::fabric
