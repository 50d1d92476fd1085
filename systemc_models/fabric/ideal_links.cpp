// SPDX-License-Identifier: Apache-2.0
// `links: ideal`: any number of messages cross a link at the same time. Only the memory orders them.
#include "kernbench/systemc_models/fabric/header_links.h"

namespace kernbench::fabric {
namespace {

struct IdealLaw {
  static constexpr bool kServes = false;
  static double take(const Link&, double ready_ns, double, double*) { return ready_ns; }
  static bool source_in_turn(const FabricTransaction&, const Link&) { return true; }
  static bool in_turn(const Link&, const Link*) { return true; }
  static bool request_in_turn(const FabricTransaction& x, const MemoryTarget& memory, const Link*) {
    return ahead_of_time::next_in_turn(memory, x);
  }
  static Order arrival_order(const FabricTransaction& x, const MemoryTarget&, Link*) { return x.own_order; }
};

LinkModeSpec ideal() {
  LinkModeSpec s;
  s.name = "ideal";
  s.help = "unlimited capacity: any number of messages pass a link at the same time";
  s.standard = true;
  s.make = make_link_mode<HeaderLinks<IdealLaw>>;
  return s;
}

}  // namespace

KERNBENCH_REGISTER_LINK_MODE(ideal())

}  // namespace kernbench::fabric
