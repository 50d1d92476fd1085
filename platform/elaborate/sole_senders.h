// SPDX-License-Identifier: Apache-2.0
// Who alone puts messages on a link or sends requests to a memory: what lets the link modes decide order ahead of time
// (systemc_models/fabric/ahead_of_time.md). Found from the edges alone, or from all the routes there will be.
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

/// Keeps who sends as long as it is one alone.
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

  /// False: routers of one's own decide where messages go, so nobody is known to be alone.
  bool known() const { return known_; }
  /// Sets what follows from the edges alone, for routes that are not known yet: a message leaves a node by no edge back
  /// to where it came from, and who is not between others is the only one to use the edges that leave it.
  void from_edges();
  /// A route that there will be.
  void add(const Component& initiator, const Route&);
  /// One of messages, which are posted.
  void add_messages(const Component& initiator, const Route&);
  /// Sets what follows from the routes: no others will be.
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
