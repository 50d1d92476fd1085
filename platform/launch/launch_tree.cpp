#include "kernbench/platform/launch/launch_tree.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/topology/route/resolver.h"

namespace kernbench {

namespace {

/// Overheads of all nodes but the last, and the wires.
double leg_ns(Machine& machine, uint32_t from, uint32_t to) {
  const topology::Graph& graph = machine.graph();
  double ns = 0;
  try {
    for (uint32_t e : machine.routes().paths().find_path(from, to)) {
      const topology::Edge& edge = graph.edges[e];
      ns += machine.blocks().component(edge.from).overhead_ns() + edge.distance_mm * graph.ns_per_mm;
    }
  } catch (const topology::RouteError& e) {
    throw HostPathError(e.what());
  }
  return ns;
}

std::string scope_of(const std::string& id) {
  const size_t dot = id.rfind('.');
  return dot == std::string::npos ? std::string() : id.substr(0, dot);
}

/// Where the parts are that a launch passes.
class HostParts {
 public:
  explicit HostParts(const topology::Graph& graph) : graph_(graph), resolver_(graph) {}

  uint32_t m_cpu(size_t pe) const {
    const auto [sip, cube] = resolver_.cube_of_pe(static_cast<uint32_t>(pe));
    if (cube < 0) {
      // Ids of a flat file that name no cube: the m_cpu that stands beside the PE.
      const std::string scope = scope_of(graph_.pes[pe].id);
      for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
        if (graph_.nodes[n].kind == "m_cpu" && scope_of(graph_.nodes[n].id) == scope) return n;
      }
    }
    return resolver_.find_m_cpu(sip, cube);
  }
  uint32_t io_cpu(size_t pe) const { return resolver_.find_io_cpu(sip(pe)); }
  uint32_t pcie_ep(size_t pe) const { return resolver_.find_pcie_ep(sip(pe)); }
  uint32_t pe_cpu(size_t pe) const {
    const auto& blocks = graph_.pes[pe].blocks;
    const auto it = blocks.find("pe_cpu");
    if (it == blocks.end()) throw HostPathError(graph_.pes[pe].id + ": no pe_cpu");
    return it->second;
  }
  /// HostPathError that names all parts that a PE lacks.
  void require(size_t pe) const {
    std::string missing;
    const auto check = [&](const char* what, uint32_t (HostParts::*find)(size_t) const) {
      try {
        (this->*find)(pe);
      } catch (const topology::ResolveError&) {
        missing += (missing.empty() ? "no " : ", no ") + std::string(what);
      }
    };
    check("pcie_ep in its SIP's io0", &HostParts::pcie_ep);
    check("io_cpu in its SIP's io0", &HostParts::io_cpu);
    check("m_cpu in its cube", &HostParts::m_cpu);
    if (!missing.empty()) throw HostPathError(graph_.pes[pe].id + ": " + missing);
  }

 private:
  int sip(size_t pe) const { return resolver_.cube_of_pe(static_cast<uint32_t>(pe)).first; }

  const topology::Graph& graph_;
  topology::AddressResolver resolver_;
};

/// Builds the levels one after the other, which keeps children together.
class TreeBuilder {
 public:
  using Stop = LaunchTree::Stop;
  TreeBuilder() { tree_.stops.emplace_back(); }

  uint32_t add(LaunchTree::Role role, uint32_t parent, uint32_t node, double leg, size_t place = 0) {
    const auto index = static_cast<uint32_t>(tree_.stops.size());
    Stop& p = tree_.stops[parent];
    if (p.children++ == 0) p.first_child = index;
    Stop s;
    s.role = role;
    s.parent = parent;
    s.node = node;
    s.leg_ns = leg;
    s.arrival_ns = p.arrival_ns + leg;
    s.place = place;
    if (role == LaunchTree::Role::pe) tree_.latest_ns = std::max(tree_.latest_ns, s.arrival_ns);
    tree_.stops.push_back(s);
    return index;
  }
  LaunchTree take() { return std::move(tree_); }

 private:
  LaunchTree tree_;
};

/// A stop whose children are still to be added: those that lead to these places of the launch.
struct Branch {
  uint32_t node = 0;
  std::vector<size_t> places;
  uint32_t stop = 0;
};

/// Places by the node that `node_of(place)` gives, in the order in which the nodes are first met.
template <class NodeOf>
std::vector<Branch> by_node(const std::vector<size_t>& places, NodeOf&& node_of) {
  std::vector<Branch> branches;
  std::unordered_map<uint32_t, size_t> index;
  for (size_t place : places) {
    const uint32_t node = node_of(place);
    const auto [it, is_new] = index.emplace(node, branches.size());
    if (is_new) branches.push_back({node, {}, 0});
    branches[it->second].places.push_back(place);
  }
  return branches;
}

}  // namespace

LaunchTree host_launch_tree(Machine& machine, const std::vector<size_t>& pes) {
  using Role = LaunchTree::Role;
  const HostParts parts(machine.graph());
  for (size_t pe : pes) parts.require(pe);
  std::vector<size_t> places(pes.size());
  std::iota(places.begin(), places.end(), size_t{0});

  TreeBuilder tree;
  std::vector<Branch> sips = by_node(places, [&](size_t i) { return parts.io_cpu(pes[i]); });
  for (Branch& sip : sips) {
    const uint32_t endpoint = parts.pcie_ep(pes[sip.places.front()]);
    sip.stop = tree.add(Role::io_cpu, 0, sip.node, leg_ns(machine, endpoint, sip.node));
  }
  std::vector<Branch> cubes;
  for (const Branch& sip : sips) {
    for (Branch& cube : by_node(sip.places, [&](size_t i) { return parts.m_cpu(pes[i]); })) {
      cube.stop = tree.add(Role::m_cpu, sip.stop, cube.node, leg_ns(machine, sip.node, cube.node));
      cubes.push_back(std::move(cube));
    }
  }
  for (const Branch& cube : cubes) {
    for (size_t i : cube.places) {
      const uint32_t pe_cpu = parts.pe_cpu(pes[i]);
      tree.add(Role::pe, cube.stop, pe_cpu, leg_ns(machine, cube.node, pe_cpu), i);
    }
  }
  return tree.take();
}

LaunchTree direct_launch_tree(Machine& machine, const std::vector<size_t>& pes) {
  const HostParts parts(machine.graph());
  TreeBuilder tree;
  for (size_t i = 0; i < pes.size(); ++i) tree.add(LaunchTree::Role::pe, 0, parts.pe_cpu(pes[i]), 0, i);
  return tree.take();
}

const char* name_of(LaunchMode m) {
  switch (m) {
    case LaunchMode::automatic:
      return "automatic";
    case LaunchMode::host:
      return "host";
    case LaunchMode::direct:
      return "direct";
  }
  return "";
}

LaunchWay choose_launch_way(Machine& machine, const std::vector<size_t>& pes, LaunchMode mode) {
  if (mode == LaunchMode::direct) return {LaunchMode::direct, {}, direct_launch_tree(machine, pes)};
  try {
    return {LaunchMode::host, {}, host_launch_tree(machine, pes)};
  } catch (const HostPathError& e) {
    if (mode == LaunchMode::host) throw;
    return {LaunchMode::direct, std::string("no host path: ") + e.what(), direct_launch_tree(machine, pes)};
  }
}

}  // namespace kernbench
