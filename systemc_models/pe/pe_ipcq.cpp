// Models: the node of a PE's inter-PE queues. No queue works so far.
#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {
namespace {

class PeIpcq : public Component {
 public:
  using Parameters = BlockParameters;
  PeIpcq(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : Component(name, config, checked(parameters)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_ipcq", "pe_ipcq", "a PE's inter-PE queues (a node: no queue yet)");
  }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeIpcq)

}  // namespace kernbench
