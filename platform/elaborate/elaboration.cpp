// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/elaboration.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/systemc_models/core/component_registry.h"
#include "kernbench/systemc_models/fabric/address_map.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::elaborate {

/// A level of the hierarchy without its own node: sip0, sip0.cube0.
struct Elaboration::Scope : sc_core::sc_module {
  Scope(const sc_core::sc_module_name& name, const std::function<void()>& build_children) : sc_module(name) {
    build_children();
  }
};

struct Elaboration::TreeNode {
  std::string name;
  int node = -1;
  std::vector<std::unique_ptr<TreeNode>> children;
  std::unordered_map<std::string, TreeNode*> by_name;

  TreeNode& child(const std::string& segment) {
    TreeNode*& c = by_name[segment];
    if (!c) {
      children.push_back(std::make_unique<TreeNode>());
      c = children.back().get();
      c->name = segment;
    }
    return *c;
  }
};

Elaboration::Elaboration(const topology::Graph& graph, Fabric& fabric) : graph_(graph), fabric_(fabric) {
  build_modules();
  require_roles();
  build_links();
  build_message_links();
  set_bases();
}

/// SystemC's registries search for removed objects from the end, so destruction in reverse order is fast.
Elaboration::~Elaboration() {
  for (auto n = built_.rbegin(); n != built_.rend(); ++n) components_[*n].reset();
  while (!scopes_.empty()) scopes_.pop_back();
}

/// A foreign block may have its own processes.
bool Elaboration::waits_for_others() const {
  return has_foreign_nodes_ || std::any_of(components_.begin(), components_.end(), [](const ComponentPtr& c) {
           return c->stands_for_foreign_model() || std::string_view(c->kind()).rfind("builtin.", 0) != 0;
         });
}

RequestPort* Elaboration::request_port(uint32_t node) const {
  FabricNode* n = components_[node]->fabric_node();
  return n ? n->request_port() : nullptr;
}

Component& Elaboration::block_that(bool (*is)(Component&), const std::string& id, const char* what) const {
  std::string known;
  for (const auto& c : components_) {
    if (!is(*c)) continue;
    if (c->id() == id) return *c;
    known += (known.empty() ? "" : ", ") + c->id();
  }
  throw InputError(std::string(what) + ": found '" + id +
                   "'; legal: " + (known.empty() ? std::string("none, the topology has no such node") : known));
}

void Elaboration::build_modules() {
  components_.resize(graph_.nodes.size());
  TreeNode root;
  std::vector<TreeNode*> way = {&root};  // scopes of the previous node, most of which are those of the next
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    const std::string& id = graph_.nodes[n].id;
    size_t depth = 0;
    for (size_t from = 0; from <= id.size(); ++depth) {
      const size_t dot = std::min(id.find('.', from), id.size());
      const std::string_view segment = std::string_view(id).substr(from, dot - from);
      if (depth + 1 == way.size() || way[depth + 1]->name != segment) {
        way.resize(depth + 1);
        way.push_back(&way[depth]->child(std::string(segment)));
      }
      from = dot + 1;
    }
    way.resize(depth + 1);
    way.back()->node = static_cast<int>(n);
  }
  build_children(root);
}

void Elaboration::build_children(const TreeNode& parent) {
  for (const auto& child : parent.children) {
    const TreeNode& c = *child;
    const auto grandchildren = [this, &c] { build_children(c); };
    if (c.node < 0) {
      scopes_.push_back(std::make_unique<Scope>(c.name.c_str(), grandchildren));
      continue;
    }
    const topology::Node& node = graph_.nodes[static_cast<size_t>(c.node)];
    const auto* make = component_registry().factory(node.impl);
    if (!make) throw std::runtime_error(node.id + ": no component is registered as '" + node.impl + "'");
    const auto& conflicts = component_registry().conflicts();
    if (std::find(conflicts.begin(), conflicts.end(), node.impl) != conflicts.end())
      throw std::runtime_error(node.id + ": more than one component is registered as '" + node.impl + "'");
    ComponentConfig config(fabric_, node.id, static_cast<uint32_t>(c.node));
    config.attributes = &node.attrs;
    config.impl = node.impl.c_str();
    if (!c.children.empty()) config.build_children = grandchildren;
    components_[config.index] = (*make)(c.name.c_str(), config);
    built_.push_back(config.index);
  }
}

/// Parallel edges between two nodes. Requests take the shortest, and among equal ones the first; responses take the
/// first of all (timing rules §1).
struct Elaboration::Parallel {
  int shortest = -1, first = -1;
};

/// Whether the edge can carry requests and their responses, or responses to requests on the reverse edge.
bool Elaboration::carries_traffic(const topology::Edge& e) const {
  FabricNode *from = components_[e.from]->fabric_node(), *to = components_[e.to]->fabric_node();
  if (!from || !to || !from->takes_memory_traffic() || !to->takes_memory_traffic()) return false;
  return (from->initiator_socket() && (to->target_socket() || to->initiator_socket())) ||
         (from->target_socket() && to->initiator_socket());
}

void Elaboration::build_links() {
  edges_.resize(graph_.edges.size());
  std::unordered_map<uint64_t, Parallel> by_ends;
  const auto between = [&](uint32_t a, uint32_t b) -> Parallel& { return by_ends[uint64_t{a} << 32 | b]; };
  const auto is_open = [&](uint32_t n) { return topology::is_foreign(graph_, n) && !topology::inside_pe(graph_, n); };
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) has_foreign_nodes_ |= topology::is_foreign(graph_, n);
  // Foreign nodes and their neighbours: the edges in both directions.
  std::map<std::pair<uint32_t, uint32_t>, std::pair<int, int>> open;
  for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
    const topology::Edge& edge = graph_.edges[e];
    if (is_open(edge.to)) open.try_emplace({edge.to, edge.from}, -1, -1).first->second.first = static_cast<int>(e);
    if (is_open(edge.from)) open.try_emplace({edge.from, edge.to}, -1, -1).first->second.second = static_cast<int>(e);
    if (!carries_traffic(edge)) continue;
    Parallel& p = between(edge.from, edge.to);
    if (p.first < 0) p.first = p.shortest = static_cast<int>(e);
    if (edge.nm() < graph_.edges[static_cast<size_t>(p.shortest)].nm()) p.shortest = static_cast<int>(e);
  }
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    for (const uint32_t e : graph_.out_edges[n]) {
      const topology::Edge& edge = graph_.edges[e];
      if (!carries_traffic(edge)) continue;
      const Parallel& there = between(n, edge.to);
      if (!edges_[e].link && there.first == static_cast<int>(e) && n != edge.to)
        connect_nodes(n, edge.to, there, between(edge.to, n));
      if (!edges_[e].link) note_link(static_cast<int>(e), fabric_.make_link(parameters(e)));  // used by no route
    }
  }
  // The user binds their blocks later (foreign_node.h).
  for (const auto& [ends, edges] : open) open_port_to(ends.first, ends.second, edges.first, edges.second);
  // With finite buffers, a node's ports are ordered like its edges.
  std::unordered_map<const FabricNode*, uint32_t> ranks;
  std::unordered_set<const FabricPort*> ranked;
  for (const Edge& e : edges_) {
    for (FabricPort* port : {e.hop.out, e.hop.in}) {
      if (port && ranked.insert(port).second) port->rank = ranks[&port->node()]++;
    }
  }
}

/// An edge that carries only messages is no link of the memory traffic.
bool Elaboration::carries_messages(const topology::Edge& e) const {
  FabricNode *from = components_[e.from]->fabric_node(), *to = components_[e.to]->fabric_node();
  return from && to && from->initiator_socket() && to->target_socket() && !to->takes_memory_traffic();
}

void Elaboration::build_message_links() {
  std::unordered_map<uint64_t, uint32_t> shortest;  // by both ends, among parallel edges
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    for (const uint32_t e : graph_.out_edges[n]) {
      const topology::Edge& edge = graph_.edges[e];
      if (!carries_messages(edge)) continue;
      const auto [it, first] = shortest.emplace(uint64_t{n} << 32 | edge.to, e);
      if (!first && edge.nm() < graph_.edges[it->second].nm()) it->second = e;
    }
  }
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    for (const uint32_t e : graph_.out_edges[n]) {
      const topology::Edge& edge = graph_.edges[e];
      const auto it = shortest.find(uint64_t{n} << 32 | edge.to);
      if (it == shortest.end() || it->second != e) continue;
      FabricNode &from = *components_[n]->fabric_node(), &to = *components_[edge.to]->fabric_node();
      connect(from, to, parameters(e), LinkParameters{}, Requests::there);
      edges_[e].hop = {from.ports().back(), to.ports().back()};
    }
  }
}

LinkParameters Elaboration::parameters(uint32_t e) const {
  return {graph_.edges[e].distance_mm * graph_.ns_per_mm, graph_.effective_bw(e)};
}

/// The link of a port over this edge.
LinkTo Elaboration::link_to(int edge) const {
  if (edge < 0) return {};
  const auto e = static_cast<uint32_t>(edge);
  return edges_[e].link ? LinkTo(*edges_[e].link) : LinkTo(parameters(e));
}

void Elaboration::note_link(int edge, Link& link) {
  if (edge < 0) return;
  link.edge = static_cast<uint32_t>(edge);
  edges_[link.edge].link = &link;
}

/// If each direction has one edge, requests and responses share a pair of ports.
void Elaboration::connect_nodes(uint32_t a, uint32_t b, const Parallel& there, const Parallel& back) {
  if (there.shortest == there.first && back.shortest == back.first)
    return connect_ports(a, b, there.first, back.first, Requests::both_ways);
  connect_ports(a, b, there.shortest, back.first, Requests::there);
  connect_ports(b, a, back.shortest, there.first, Requests::there);
}

void Elaboration::connect_ports(uint32_t a, uint32_t b, int there, int back, Requests requests) {
  FabricNode &at_a = *components_[a]->fabric_node(), &at_b = *components_[b]->fabric_node();
  LinkTo from_b = link_to(back);
  // A response uses the sockets of a request in the other direction, even without a link in that direction.
  if (back < 0 && graph_.in_one_network(a, b)) from_b = LinkParameters{};
  connect(at_a, at_b, link_to(there), from_b, requests);
  FabricPort *port_a = at_a.ports().back(), *port_b = at_b.ports().back();
  note_link(there, port_a->link);
  note_link(back, port_b->link);
  if (there >= 0) edges_[static_cast<uint32_t>(there)].hop = {port_a, port_b};
  if (back >= 0 && requests == Requests::both_ways) edges_[static_cast<uint32_t>(back)].hop = {port_b, port_a};
}

void Elaboration::open_port_to(uint32_t foreign, uint32_t neighbour, int there, int back) {
  FabricNode* node = components_[neighbour]->fabric_node();
  if (!node) return;
  LinkParameters from;
  if (back >= 0) from = parameters(static_cast<uint32_t>(back));
  FabricPort& port = open_port(*node, link_to(there), from);
  note_link(there, port.link);
  if (there >= 0) edges_[static_cast<uint32_t>(there)].hop.out = &port;
  if (back >= 0) {
    edges_[static_cast<uint32_t>(back)].hop.in = &port;
    note_link(back, port.foreign()->from);
  }
  static_cast<ForeignNode&>(*components_[foreign])
      .add_neighbour(port, there >= 0 && node->initiator_socket(), back >= 0 && node->target_socket());
}

std::vector<Hop> Elaboration::hops(const std::vector<uint32_t>& path, const char* what) const {
  std::vector<Hop> hops;
  Hop hop;
  for (const uint32_t e : path) {
    const topology::Edge& edge = graph_.edges[e];
    if (!topology::is_foreign(graph_, edge.from)) hop.out = edges_[e].hop.out;
    if (topology::is_foreign(graph_, edge.to)) continue;
    hop.in = edges_[e].hop.in;
    if (!hop.out || !hop.in || !hop.out->node().initiator_socket() || !hop.in->node().target_socket()) {
      throw AccessError(graph_.nodes[edge.from].id + ": has no sockets that lead " + what + " to " +
                        graph_.nodes[edge.to].id);
    }
    hops.push_back(hop);
    hop = {};
  }
  return hops;
}

std::vector<Hop> Elaboration::hops_back(const std::vector<uint32_t>& way_back) const {
  std::vector<Hop> hops;
  for (auto e = way_back.rbegin(); e != way_back.rend(); ++e) hops.push_back({edges_[*e].hop.in, edges_[*e].hop.out});
  return hops;
}

[[noreturn]] void Elaboration::refuse(uint32_t node, const std::string& lacks) const {
  const topology::Node& n = graph_.nodes[node];
  throw InputError(n.id + ": '" + n.impl + "' " + lacks);
}

/// Checks the nodes on or at the end of memory traffic: their roles for link modes and address map. (For a PE's blocks:
/// systemc_models/pe/pe_assembly.h.)
void Elaboration::require_roles() const {
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    if (!graph_.nodes[n].transit || topology::is_foreign(graph_, n)) continue;
    auto* router = dynamic_cast<Router*>(components_[n].get());
    if (!router || !router->fabric_node() || !router->initiator_socket() || !router->target_socket()) {
      refuse(n, "is no Router with both sockets, which a block of kind " + graph_.nodes[n].kind +
                    " must be (systemc_models/fabric/router.h), or say transit: false");
    }
  }
  for (const topology::Memory& m : graph_.memories) {
    auto* memory = dynamic_cast<MemoryTarget*>(components_[m.node].get());
    if (!memory || !memory->fabric_node() || !memory->target_socket()) {
      refuse(m.node,
             "is no MemoryTarget with a target socket, which a block with a range of addresses must be "
             "(systemc_models/fabric/memory_target.h)");
    }
  }
}

void Elaboration::set_bases() {
  for (const topology::Memory& m : graph_.memories) {
    auto& memory = static_cast<MemoryTarget&>(*components_[m.node]);
    fabric_.address_map().add(memory, m.base, m.size, add_space(m.space));
  }
}

}  // namespace kernbench::elaborate
