// A message of the host that fans out to many PEs, and whose responses are aggregated on the way back: an m_cpu answers
// when its PEs have, an io_cpu when its cubes have, the host has its answer when the SIPs have. An error is passed on
// as soon as it is known. Messages carry no bytes and do not contend. Does not model: instructions of the management
// processors, queues in them, loss.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "kernbench/platform/launch/host_messages.h"
#include "kernbench/platform/launch/launch_tree.h"

namespace kernbench {

class Machine;

/// Any number of messages, also at the same time. Must outlive the simulation.
class HostFanOut {
 public:
  struct Party;
  /// The message is at the PE at that place of the launch. It must be answered exactly once, now or later.
  using Deliver = std::function<void(Party& pe, size_t place)>;
  using Done = std::function<void(const HostResponse&)>;
  explicit HostFanOut(Machine& machine) : machine_(machine) {}
  HostFanOut(const HostFanOut&) = delete;
  HostFanOut& operator=(const HostFanOut&) = delete;

  /// The message leaves the host now (before the simulation: at 0). `done` is called once, at the instant when the host
  /// has the response, and may send again. Returns the correlation id (that of `ids` where it is not 0).
  uint64_t send(MessageIds ids, const LaunchTree& tree, Deliver deliver, Done done);
  /// The PE's response leaves it at at_ns.
  void answer(Party&, HostError, const std::string& text, double at_ns);

 private:
  struct Message {
    Deliver deliver;
    Done done;
    double sent_ns = 0;
    std::vector<Party> parties;
    size_t open = 0;  ///< entries on the timeline, and PEs that have not answered
  };
  void pass(Party&, double at_ns, void (*handler)(void*, void*));
  void request_arrived(Party&);
  void respond(Party&, HostError, const std::string& text, double at_ns);
  void response_arrived(Party& from);
  void close_one(Message&);

  Machine& machine_;
  std::list<Message> messages_;
  uint64_t last_correlation_ = 0, last_request_ = 0;
};

/// A stop of a message in flight.
struct HostFanOut::Party {
  Message* message = nullptr;
  LaunchTree::Stop stop;
  uint32_t outstanding = 0;  ///< children that have not answered
  bool answered = false;
  HostResponse response;
};

}  // namespace kernbench
