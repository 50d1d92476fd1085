// `links: cut_through`: each directed link is one FIFO server, ordered by the time at which the header is ready to leave
// the node; s = max(ready, free), free = s + (payload + header_bytes) / bw, the header is at the other end at s + wire.
#include "kernbench/systemc_models/fabric/header_links.h"

namespace kernbench {
namespace {

struct CutThroughLaw {
  static constexpr bool kServes = true;
  static double take(Link& link, double ready_ns, double bytes, double* queue_ns) {
    const double start = link.take(ready_ns, bytes);
    ++link.messages;
    *queue_ns += start - ready_ns;
    return start;
  }
  /// A read goes before a write that is granted at the same instant (§9): so it is the next where nothing else waits.
  static bool source_in_turn(const FabricTransaction& x, const Link& link) {
    return !x.write && link.waiting == 0 && link.sole_sender == &x.initiator->owner();
  }
  static bool in_turn(const Link& link, const Link* from) { return from && link.sole_sender == from; }
  static bool request_in_turn(const FabricTransaction&, const MemoryTarget& memory, const Link* from) {
    return from && memory.sole_sender() == from;
  }
  static Order arrival_order(const FabricTransaction& x, const MemoryTarget& memory, Link* from) {
    return from ? from->ready_order.of(x.own_order, x.time_ns, x.time_ns, &memory) : x.own_order;
  }
};

}  // namespace

std::unique_ptr<LinkMode> make_cut_through_links(Fabric& fabric) {
  return std::make_unique<HeaderLinks<CutThroughLaw>>(fabric);
}

}  // namespace kernbench
