// SPDX-License-Identifier: Apache-2.0
// Finds links and memories with a single upstream source, for which link modes can reserve early
// (systemc_models/fabric/ahead_of_time.md). Uses the edges, or all future routes if they are known.
#pragma once

#include <unordered_map>
#include <vector>

#include "kernbench/platform/elaborate/elaboration.h"
#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::fabric {
class LinkMode;
class MemoryTarget;
class Router;
class Path;
struct Route;
}  // namespace kernbench::fabric

namespace kernbench::elaborate {

/// Keeps the sender as long as there is only one.
class SoleSender {
 public:
  void add(const void* sender) {
    several_ |= sender_ && sender_ != sender;
    sender_ = sender;
  }
  const void* get() const { return several_ ? nullptr : sender_; }

 private:
  const void* sender_ = nullptr;
  bool several_ = false;
};

class SoleSenders {
 public:
  SoleSenders(const topology::Graph& graph, const Elaboration& blocks, const LinkMode& mode);

  /// False: user-defined routers choose the paths, so no single source is known.
  bool known() const { return known_; }
  /// Derives single sources from the edges, if routes are unknown. A message never leaves a node by the edge back to
  /// its origin. A node that no traffic passes is the only source of its outgoing edges.
  void from_edges();
  /// Adds a future route.
  void add(const Component& initiator, const Route&);
  /// Adds a future route of messages, which are posted.
  void add_messages(const Component& initiator, const Route&);
  /// Derives single sources from the added routes; there will be no others.
  void from_routes();

 private:
  const void* add_path(const void* source, const Path&);
  void set(uint32_t edge, const void* sender);
  void tell_mode() const;

  const topology::Graph& graph_;
  const Elaboration& blocks_;
  const LinkMode& mode_;
  bool known_ = true;
  std::vector<const Router*> routers_;  ///< by node; null: none
  std::vector<SoleSender> links_;       ///< by edge
  std::unordered_map<MemoryTarget*, SoleSender> memories_;
};

}  // namespace kernbench::elaborate
