// SPDX-License-Identifier: Apache-2.0
// Models the processor of an IO chiplet: it passes memory traffic on like a router, and distributes the host's messages
// to the m_cpus of the destination cubes (fabric/fan_out.h). Timing rules §2, §3, §7. Does not model its program or its
// queues.
#pragma once

#include <typeinfo>

#include "kernbench/systemc_models/fabric/fan_out.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::io {

class IoCpu : public Router, public ControlTarget {
 public:
  IoCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {})
      : Router(name, config, parameters) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.io_cpu", "io_cpu",
                               "the processor of an IO chiplet: decodes and fans out commands")
        .transit()
        .overhead_is(Resource::launch);
  }

  void message_arrived(ControlMessage& m) override { fan_out_.pass_on(m); }
  bool own_rules() const override { return typeid(*this) != typeid(IoCpu); }

 private:
  FanOut fan_out_{*this};
};

}  // namespace kernbench::io
