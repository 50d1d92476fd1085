// Models: the node of a PE's inter-PE queues. No queue works so far.
#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {
namespace {

class PeIpcq : public Component {
 public:
  using Component::Component;
  static ImplSpec spec() {
    return {"builtin.pe_ipcq", "pe_ipcq", "a PE's inter-PE queues (a node: no queue yet)", {overhead_attribute()}};
  }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeIpcq)

}  // namespace kernbench
