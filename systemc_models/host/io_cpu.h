// Models: the processor of an IO chiplet: passes memory traffic on as a router does, and sends the host's messages on
// to the m_cpus of the cubes that they are for (fabric/fan_out.h). Timing contract §2, §3, §7.
// Does not model: the program it runs, its queues.
#pragma once

#include <typeinfo>

#include "kernbench/systemc_models/fabric/fan_out.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench {

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

}  // namespace kernbench
