// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/flow_control.h"

#include "kernbench/platform/topology/route/channel_dependencies.h"

namespace kernbench::elaborate {

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

ChannelLayers require_flow_control(const topology::Graph& graph, topology::PathRouter& paths) {
  if (!graph.has_finite_buffers() || !graph.timing.prove_deadlock_free) return {};
  const topology::ChannelDependencies found = topology::find_dependencies(graph, paths);
  topology::require_deadlock_free(graph, found);
  return layers_of(found);
}

}  // namespace kernbench::elaborate
