// SPDX-License-Identifier: Apache-2.0
// Detects whether messages in finite buffers can wait for each other in a cycle, and how virtual channels prevent it
// (docs/flow_control.md).
//
// Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks" (IEEE Trans. Computers
// C-36, 1987): deterministic routing is deadlock-free if, and only if, the dependency graph of its channels has no
// cycle. A channel here is a link into a limited buffer, for one class of messages. If a route takes one link and then
// another, the first channel depends on the second. Unlimited buffers cause no dependencies. A multicast's pairs of
// links lie along its routes and are counted with them: the link into a fork depends on each link out of it. Its
// branches do not depend on each other, because the message fits whole into the fork's buffer (multicast rules 19.7).
//
// As in the paper, virtual channels break cycles: they form layers. A message starts in the first layer and changes to
// the next one after a turn that would close a cycle in its own (a dateline).
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::topology {

/// A turn from one edge onto another at which messages of a layer change to the next one.
struct Dateline {
  uint32_t from, onto, layer;
};

struct ChannelDependencies {
  static constexpr uint32_t kTooMany = ~0u;
  size_t channels = 0;              ///< used by some route
  size_t dependencies = 0;          ///< pairs in which one channel waits for the other
  std::vector<uint32_t> cycle;      ///< edges that each wait for the next, the last for the first; empty: none
  bool cycle_of_responses = false;  ///< its first edge is a channel of responses
  // If there is a cycle: of requests, of responses.
  std::vector<uint32_t> circular[2];  ///< edges on any cycle, ascending
  std::vector<Dateline> datelines[2];
  uint32_t layers = 1;  ///< layers of virtual channels that leave no cycle; kTooMany: more than the search allows
  uint32_t vcs = 0;     ///< minimal number of virtual channels after the circular edges
  /// Whether a sufficient number of virtual channels was found.
  bool layered() const { return layers != kTooMany; }
  bool deadlock_free() const { return cycle.empty() || vcs >= layers; }
};

/// For all routes of the memory traffic, from every initiator to every memory and back, and of messages between PEs
/// with queues.
ChannelDependencies find_dependencies(const Graph&, PathRouter&);

/// "deadlock-free: proved over 24 channels and 40 dependencies", or the cycle.
std::string describe(const Graph&, const ChannelDependencies&);
/// InputError, one line, for a cycle with too few virtual channels.
void require_deadlock_free(const Graph&, const ChannelDependencies&);

}  // namespace kernbench::topology
