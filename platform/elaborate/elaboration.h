// SPDX-License-Identifier: Apache-2.0
// A compiled topology as SystemC modules. Creates the blocks by their `impl:` names, in the hierarchy of their ids,
// within the module under construction. Binds their sockets along the edges.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/component_ptr.h"
#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench::fabric {
class Fabric;
class RequestPort;
enum class Requests : uint8_t;
struct Link;
struct LinkParameters;
struct LinkTo;
}  // namespace kernbench::fabric

namespace kernbench::elaborate {

class Elaboration {
 public:
  /// std::runtime_error (one line) if an impl cannot be created; InputError if a class lacks a role that its node
  /// needs.
  Elaboration(const topology::Graph& graph, Fabric& fabric);
  ~Elaboration();
  Elaboration(const Elaboration&) = delete;
  Elaboration& operator=(const Elaboration&) = delete;

  size_t size() const { return components_.size(); }
  Component& component(uint32_t node) const { return *components_[node]; }
  /// The node as an initiator of requests, or null (pe_dma, m_cpu, pcie_ep and port may be one).
  RequestPort* request_port(uint32_t node) const;

  /// The edge as a link of the fabric; null if it cannot carry memory traffic.
  Link* link(uint32_t edge) const { return edges_[edge].link; }

  /// The hops of memory traffic or messages along a path, without foreign nodes. AccessError, one line, if sockets for
  /// `what` are missing.
  std::vector<Hop> hops(const std::vector<uint32_t>& path, const char* what) const;
  /// The same for responses from a memory back to its initiator on a separate path without foreign nodes. Hops are
  /// numbered from the initiator (Route::own_back).
  std::vector<Hop> hops_back(const std::vector<uint32_t>& way_back) const;
  /// Whether any block is foreign.
  bool has_foreign_nodes() const { return has_foreign_nodes_; }
  /// A link outside of the graph (platform/launch/launch_host.h).
  void add_foreign_node() { has_foreign_nodes_ = true; }
  /// Whether something other than the platform's timeline may activate a block: the block is foreign, or a user's model
  /// gives its answers.
  bool waits_for_others() const;

  /// The block with that id and type; InputError lists the existing ones.
  template <class Block>
  Block& block_named(const std::string& id, const char* what) const;

 private:
  struct Scope;
  struct TreeNode;
  struct Edge {
    Link* link = nullptr;
    Hop hop;
  };
  struct Parallel;
  void build_modules();
  void build_children(const TreeNode&);
  void require_roles() const;
  [[noreturn]] void refuse(uint32_t node, const std::string& lacks) const;
  void build_links();
  void build_message_links();
  bool carries_traffic(const topology::Edge&) const;
  bool carries_messages(const topology::Edge&) const;
  void connect_nodes(uint32_t a, uint32_t b, const Parallel& there, const Parallel& back);
  void connect_ports(uint32_t a, uint32_t b, int there, int back, Requests);
  LinkParameters parameters(uint32_t edge) const;
  LinkTo link_to(int edge) const;
  void note_link(int edge, Link&);
  void open_port_to(uint32_t foreign, uint32_t neighbour, int there, int back);
  void set_bases();
  Component& block_that(bool (*is)(Component&), const std::string& id, const char* what) const;

  const topology::Graph& graph_;
  Fabric& fabric_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<ComponentPtr> components_;  // by node
  std::vector<uint32_t> built_;           // nodes in the order of construction of their modules
  std::vector<Edge> edges_;
  bool has_foreign_nodes_ = false;
};

template <class Block>
Block& Elaboration::block_named(const std::string& id, const char* what) const {
  const auto is = [](Component& c) { return dynamic_cast<Block*>(&c) != nullptr; };
  return dynamic_cast<Block&>(block_that(is, id, what));
}

}  // namespace kernbench::elaborate
