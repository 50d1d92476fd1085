// What a management processor does with a message that is for several PEs: one message goes on to each next stop, and
// the responses are aggregated: it answers when all have, or with the first error as soon as that is known.
// Does not model: its instructions, queues in it, loss.
#pragma once

#include <list>

#include "kernbench/systemc_models/fabric/control_message.h"

namespace kernbench {

class FabricNode;

class FanOut : private ControlSender {
 public:
  explicit FanOut(FabricNode& node) : node_(node) {}
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;
  /// Any number at once. The stops are served in the order of their first places.
  void pass_on(ControlMessage& request);

 private:
  struct Open {
    ControlMessage* request = nullptr;  ///< null when it has been answered
    size_t outstanding = 0;
    std::list<Open>::iterator self;
  };
  void response_arrived(ControlMessage&) override;

  FabricNode& node_;
  std::list<Open> open_;
};

}  // namespace kernbench
