// Models: the node of a PE's inter-PE queues. No queue works so far.
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench {
namespace {

class PeIpcq : public Component, public PeBlock {
 public:
  using Parameters = BlockParameters;
  CommandTargetSocket command_in{"command_in", *this};
  CommandInitiatorSocket command_out{"command_out", *this};

  PeIpcq(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : Component(name, config, checked(parameters)), PeBlock(static_cast<Component&>(*this)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_ipcq", "pe_ipcq", "a PE's inter-PE queues (a node: no queue yet)");
  }

  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeIpcq)

}  // namespace kernbench
