// Models: the node of a PE's MMU. Addresses are physical so far: it translates nothing and takes no time.
#include "kernbench/systemc_models/component.h"
#include "kernbench/systemc_models/registry.h"

namespace kernbench {
namespace {

class PeMmu : public Component {
 public:
  using Component::Component;
  static ImplSpec spec() {
    return {"builtin.pe_mmu", "pe_mmu", "a PE's MMU (a node: no translation yet)", {overhead_attribute()}};
  }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PeMmu)

}  // namespace kernbench
