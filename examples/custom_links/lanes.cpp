// SPDX-License-Identifier: Apache-2.0
// Models: `links: lanes`, a law of links of one's own: every link has two lanes, each a FIFO server with half of its
// bandwidth; messages of at most 256 bytes, headers too, take one of them, longer ones the other. So a short message
// does not wait for a long one that is on the same link. All else is as in `links: cut_through`.
// Does not model: bandwidth that an idle lane lends to the other.
#include <algorithm>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/fabric/header_links.h"

namespace {
using namespace kernbench;

struct Lanes : LinkState {
  double free_ns[2] = {0, 0};  ///< of short messages, of long ones
};

struct LanesLaw {
  static constexpr bool kServes = true;
  static constexpr double kShort = 256;  ///< bytes

  static double take(Link& link, double ready_ns, double bytes, double* queue_ns) {
    if (!link.state) link.state = std::make_unique<Lanes>();
    double& lane = static_cast<Lanes&>(*link.state).free_ns[bytes > kShort];
    const double start = std::max(ready_ns, lane);
    lane = start + link.transfer_ns(2 * bytes);
    link.free_ns = std::max(link.free_ns, lane);
    link.busy_ns += link.transfer_ns(bytes);
    ++link.messages;
    *queue_ns += start - ready_ns;
    return start;
  }
  // Messages overtake each other on a link, so nothing can be decided before it is a message's turn.
  static bool source_in_turn(const FabricTransaction&, const Link&) { return false; }
  static bool in_turn(const Link&, const Link*) { return false; }
  static bool request_in_turn(const FabricTransaction&, const MemoryTarget&, const Link*) { return false; }
  static Order arrival_order(const FabricTransaction& x, const MemoryTarget&, Link*) { return x.own_order; }
};

LinkModeSpec lanes() {
  LinkModeSpec s;
  s.name = "lanes";
  s.help = "two lanes by size on each link, each a FIFO server with half of its bandwidth";
  s.make = make_link_mode<HeaderLinks<LanesLaw>>;
  return s;
}
KERNBENCH_REGISTER_LINK_MODE(lanes())
}  // namespace

KERNBENCH_PLUGIN("lanes")
