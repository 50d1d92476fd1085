// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/hop_log.h"

#include "kernbench/platform/platform.h"

namespace kernbench::observe {

namespace {

/// The message of a hop, as the log writes it.
struct HopMessage {
  static constexpr bool data_op = true;
  const topology::Graph& graph;
  const FabricTransaction& x;
  uint64_t access, op_id;
  size_t number, of;
  const AccessHop& hop;

  void describe(OpRecord& r) const {
    OpDesc& d = r.own("hop");
    d.with("access", access).with("hop", uint64_t{number}).with("hops", uint64_t{of});
    if (op_id) d.with("op_id", op_id);
    d.with("initiator", x.initiator->owner().id()).with("op", name_of_access(x));
    if (!x.message) d.with("address", x.address);
    d.with("nbytes", x.nbytes).with("response", hop.response).with("ready_ns", hop.ready_ns);
    if (hop.edge == AccessHop::kNoEdge) return;
    d.with("to", graph.nodes[graph.edges[hop.edge].to].id).with("link_bytes", hop.bytes).with("tail_ns", hop.tail_ns);
  }
};

}  // namespace

void HopLog::done(const FabricTransaction& x, uint64_t number, const Hops& hops, double) {
  const uint64_t op_id = x.initiator->op_id_of(x);
  for (size_t i = 0; i < hops.size(); ++i) {
    const HopMessage message{platform_.graph(), x, number, op_id, i, hops.size(), hops[i]};
    platform_.component(hops[i].node).end_service(message, next_id_++, hops[i].start_ns, hops[i].end_ns);
  }
}

}  // namespace kernbench::observe
