// SPDX-License-Identifier: Apache-2.0
// Distribution of a message to several PEs by a management processor: it sends one message to each next stop and
// aggregates the responses. It answers when all have arrived, or with the first error as soon as that is known. Does
// not model instructions, queues or loss.
#pragma once

#include <list>

#include "kernbench/systemc_models/fabric/control_message.h"

namespace kernbench::fabric {

class FabricNode;

class FanOut : private ControlSender {
 public:
  explicit FanOut(FabricNode& node) : node_(node) {}
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;
  /// Any number at the same time. Stops are served in the order of their first places.
  void pass_on(ControlMessage& request);

 private:
  struct Open {
    ControlMessage* request = nullptr;  ///< null after it has been answered
    size_t outstanding = 0;
    std::list<Open>::iterator self;
  };
  void response_arrived(ControlMessage&) override;

  FabricNode& node_;
  std::list<Open> open_;
};

}  // namespace kernbench::fabric
