// `links: ideal`: any number of messages pass a link at once. Order is decided at the memory alone.
#include "kernbench/systemc_models/fabric/header_links.h"

namespace kernbench {
namespace {

struct IdealLaw {
  static constexpr bool kServes = false;
  static double take(const Link&, double ready_ns, double, double*) { return ready_ns; }
  static bool source_in_turn(const FabricTransaction&, const Link&) { return true; }
  static bool in_turn(const Link&, const Link*) { return true; }
  /// A read goes before a write that is granted at the same instant (§9), so none of the same initiator can still come
  /// before it.
  static bool request_in_turn(const FabricTransaction& x, const MemoryTarget& memory, const Link*) {
    return !x.write && memory.sole_sender() == &x.initiator->owner() && memory.requests_waiting() == 0;
  }
  static Order arrival_order(const FabricTransaction& x, const MemoryTarget&, Link*) { return x.own_order; }
};

}  // namespace

std::unique_ptr<LinkMode> make_ideal_links(Fabric& fabric) {
  return std::make_unique<HeaderLinks<IdealLaw>>(fabric);
}

}  // namespace kernbench
