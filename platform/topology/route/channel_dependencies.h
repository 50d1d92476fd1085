// SPDX-License-Identifier: Apache-2.0
// Whether messages in finite buffers can come to wait for each other in a cycle, and how virtual channels keep them
// from it (docs/flow_control.md).
//
// Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks" (IEEE Trans. Computers
// C-36, 1987): routing without alternatives is free of deadlock if, and only if, the graph of dependencies between its
// channels has no cycle. A channel is here a link into a limited buffer, for one class of messages; a route that takes
// one link and then another makes the second depend on by the first. A buffer without limit never makes anybody wait.
// The pairs of links of which a multicast can hold one while it waits for the other lie along its routes, and are
// counted with them: the link into a fork depends on each link out of it. Its branches do not depend on each other,
// because the message fits whole into the fork's buffer (multicast rules 19.7).
//
// As there, virtual channels take cycles apart: they are layers, a message begins in the first, and goes on in the next
// behind a turn that would close a cycle in its own (a dateline).
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::topology {

/// A turn from one edge onto another at which what comes in a layer goes on in the next.
struct Dateline {
  uint32_t from, onto, layer;
};

struct ChannelDependencies {
  static constexpr uint32_t kTooMany = ~0u;
  size_t channels = 0;          ///< that some route uses
  size_t dependencies = 0;      ///< pairs of which one waits for the other
  std::vector<uint32_t> cycle;  ///< edges that wait each for the next, and the last for the first; empty: there is none
  bool cycle_of_responses = false;  ///< the first of them is a channel of responses
  // Where there is one; of requests, of responses:
  std::vector<uint32_t> circular[2];  ///< edges that are on some cycle, ascending
  std::vector<Dateline> datelines[2];
  uint32_t layers = 1;  ///< of virtual channels, with which no cycle is left; kTooMany: more than are looked for
  uint32_t vcs = 0;     ///< virtual channels behind the circular edges, at the least
  /// So many virtual channels would do, or more.
  bool layered() const { return layers != kTooMany; }
  bool deadlock_free() const { return cycle.empty() || vcs >= layers; }
};

/// Of all ways of the memory traffic, from every initiator to every memory and back, and of the messages between PEs
/// that have queues.
ChannelDependencies find_dependencies(const Graph&, PathRouter&);

/// "deadlock-free: proved over 24 channels and 40 dependencies", or the cycle.
std::string describe(const Graph&, const ChannelDependencies&);
/// InputError, one line, for a cycle that the virtual channels are too few for.
void require_deadlock_free(const Graph&, const ChannelDependencies&);

}  // namespace kernbench::topology
