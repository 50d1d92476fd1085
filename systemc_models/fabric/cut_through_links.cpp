// SPDX-License-Identifier: Apache-2.0
// `links: cut_through`: each directed link is a FIFO server, ordered by the time at which the header is ready to leave
// the node. s = max(ready, free), free = s + (payload + header_bytes) / bw; the header reaches the other end at s +
// wire.
#include "kernbench/systemc_models/fabric/header_links.h"

namespace kernbench::fabric {
namespace {

struct CutThroughLaw {
  static constexpr bool kServes = true;
  static double take(Link& link, double ready_ns, double bytes, double* queue_ns) {
    const double start = link.take(ready_ns, bytes);
    ++link.messages;
    *queue_ns += start - ready_ns;
    return start;
  }
  static bool source_in_turn(const FabricTransaction& x, const Link& link) {
    return ahead_of_time::first_in_turn(x, link);
  }
  static bool in_turn(const Link& link, const Link* from) { return ahead_of_time::next_in_turn(link, from); }
  static bool request_in_turn(const FabricTransaction&, const MemoryTarget& memory, const Link* from) {
    return ahead_of_time::next_in_turn(memory, from);
  }
  static Order arrival_order(const FabricTransaction& x, const MemoryTarget& memory, Link* from) {
    return from ? from->ready_order.of(x.own_order, x.time_ns, x.time_ns, &memory) : x.own_order;
  }
};

LinkModeSpec cut_through() {
  LinkModeSpec s;
  s.name = "cut_through";
  s.help = "each link is a FIFO server for whole messages";
  s.make = make_link_mode<HeaderLinks<CutThroughLaw>>;
  return s;
}

}  // namespace

KERNBENCH_REGISTER_LINK_MODE(cut_through())

}  // namespace kernbench::fabric
