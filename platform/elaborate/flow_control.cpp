#include "kernbench/platform/elaborate/flow_control.h"

#include <fmt/format.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/platform/topology/route/channel_dependencies.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench {

namespace {

ChannelLayers layers_of(const topology::ChannelDependencies& d) {
  ChannelLayers layers;
  layers.count = d.layers;
  for (const uint32_t c : {kRequests, kResponses}) {
    layers.divided[c].insert(d.circular[c].begin(), d.circular[c].end());
    for (const topology::Dateline& l : d.datelines[c]) layers.datelines[c][l.onto].insert({l.from, l.layer});
  }
  return layers;
}

}  // namespace

ChannelLayers require_flow_control(const topology::Graph& graph, const Elaboration& blocks,
                                   topology::PathRouter& paths) {
  if (!graph.has_finite_buffers()) return {};
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const auto* router = dynamic_cast<const Router*>(&blocks.component(n));
    const bool foreign = topology::is_foreign(graph, n) && !topology::inside_pe(graph, n);
    if (!foreign && !(router && router->own_rules())) continue;
    throw InputError(
        fmt::format("{}:{}: {}: found {} in a system with buffer_flits; legal: blocks that keep credits, "
                    "which are kernbench's own",
                    graph.name, graph.nodes[n].line, graph.nodes[n].id,
                    foreign ? "a foreign block" : "'" + graph.nodes[n].impl + "'"));
  }
  if (!graph.timing.prove_deadlock_free) return {};
  const topology::ChannelDependencies found = topology::find_dependencies(graph, paths);
  topology::require_deadlock_free(graph, found);
  return layers_of(found);
}

}  // namespace kernbench
