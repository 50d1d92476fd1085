// SPDX-License-Identifier: Apache-2.0
// The receiver's side of a link of finite buffers (docs/flow_control.md): what has come over it and waits at the node.
// Of the sender it knows what does not change: its place in the order of an instant, and how long the wire is.
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
  FabricTransaction& transaction;  ///< that carries the message on
  uint32_t taken = 0;              ///< flits that have gone
};

/// A multicast at a fork, from its first flit's arrival until every branch has taken the last. The flits in the buffer
/// only hold their room; a flit leaves when every branch has taken its copy.
struct Fork {
  explicit Fork(InputChannel& v) : input(v) {}
  InputChannel& input;
  bool comes = true;             ///< its last flit has not arrived
  std::vector<Branch> branches;  ///< the first carries the message that has come
};

/// The buffer of a virtual channel; without a limit, of one message.
struct InputChannel : FlitQueue {
  InputChannel(InputPort& p, uint32_t c, uint32_t n) : FlitQueue(Place::input), port(p), message_class(c), number(n) {}

  InputPort& port;
  const uint32_t message_class, number;
  uint32_t stored = 0;  ///< at a node that stores and forwards: its first flits, which have left the buffer
  Flit* last_stored = nullptr;
  bool forwards = false;                 ///< at such a node: it is known when its first message goes on
  std::list<Fork> forks;                 ///< of messages in it, in their order
  FabricTransaction* serving = nullptr;  ///< at a memory: whose flit has left the queue, but has not had its turn there
};

/// Two ports that one link leads to have one.
class InputPort {
 public:
  explicit InputPort(FabricPort& in);
  InputPort(const InputPort&) = delete;
  InputPort& operator=(const InputPort&) = delete;

  FabricPort& port;
  const InputBuffers buffers;
  const double wire_ns;    ///< of the link: what a credit takes back
  const Order order;       ///< of what is done with a flit before any goes on at the instant
  ReadyOrder ready_order;  ///< of what comes out of the link

  bool limited() const { return buffers.flits > 0; }
  /// A flit has come.
  InputChannel& append(Flit&);
  /// The first one goes.
  void pop(InputChannel&);
  /// A flit goes that may stand behind others.
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

  const uint64_t rank_;  ///< of the port, among those of its node
  std::deque<InputChannel> channels_;
  std::vector<InputChannel*> by_number_[kMessageClasses];  ///< with a limit
  // Without one: of messages that have begun and not ended; those that no message has.
  std::vector<Arriving> arriving_;
  std::vector<InputChannel*> idle_;
};

}  // namespace kernbench::fabric
