// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/launch_way.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/route/resolver.h"

namespace kernbench::launch {

namespace {

using topology::naming::scope_of;

/// Finds the nodes that a launch passes.
class HostParts {
 public:
  explicit HostParts(const topology::Graph& graph) : graph_(graph), resolver_(graph) {}

  uint32_t m_cpu(size_t pe) const {
    const auto [sip, cube] = resolver_.cube_of_pe(static_cast<uint32_t>(pe));
    if (cube < 0) {
      // In a flat file whose ids name no cube: the m_cpu in the PE's scope.
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
  /// HostPathError with all nodes that a PE lacks.
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

/// A node that leads to these places of the launch.
struct Branch {
  uint32_t node = 0;
  std::vector<size_t> places;
  double arrival_ns = 0;  ///< after the message left the host
};

/// Groups places by `node_of(place)`, in order of first appearance.
template <class NodeOf>
std::vector<Branch> by_node(const std::vector<size_t>& places, NodeOf&& node_of) {
  std::vector<Branch> branches;
  std::unordered_map<uint32_t, size_t> index;
  for (size_t place : places) {
    const uint32_t node = node_of(place);
    const auto [it, is_new] = index.emplace(node, branches.size());
    if (is_new) branches.push_back({node, {}});
    branches[it->second].places.push_back(place);
  }
  return branches;
}

/// Whether the block's class accepts messages; checked before the run.
void require_target(Machine& machine, uint32_t node) {
  Component& block = machine.blocks().component(node);
  FabricNode* side = block.fabric_node();
  if (side && side->target_socket() && dynamic_cast<ControlTarget*>(&block)) return;
  throw InputError(block.id() + ": impl " + machine.graph().nodes[node].impl +
                   " takes no launches: its class is no ControlTarget with a target socket");
}

/// Cost of the leg between two nodes, ns.
double leg_ns(LaunchHost& host, uint32_t from, uint32_t to) {
  require_target(host.machine(), to);
  return host.fabric().control_legs().leg(from, to).ns();
}

}  // namespace

/// Legs are found level by level, because consecutive path searches from one start are fast.
LaunchWay host_launch_way(LaunchHost& host, const std::vector<size_t>& pes) {
  const HostParts parts(host.machine().graph());
  for (size_t pe : pes) parts.require(pe);
  std::vector<size_t> places(pes.size());
  std::iota(places.begin(), places.end(), size_t{0});
  auto addresses = std::make_shared<ControlAddresses>(pes.size());

  std::vector<Branch> sips = by_node(places, [&](size_t i) { return parts.io_cpu(pes[i]); });
  for (Branch& sip : sips) sip.arrival_ns = leg_ns(host, host.index(), sip.node);
  std::vector<Branch> cubes;
  for (const Branch& sip : sips) {
    for (Branch& cube : by_node(sip.places, [&](size_t i) { return parts.m_cpu(pes[i]); })) {
      cube.arrival_ns = sip.arrival_ns + leg_ns(host, sip.node, cube.node);
      for (size_t i : cube.places) (*addresses)[i].stops[ControlAddress::kIoCpu] = sip.node;
      cubes.push_back(std::move(cube));
    }
  }
  LaunchWay way;
  way.mode = LaunchMode::host;
  for (const Branch& cube : cubes) {
    for (size_t i : cube.places) {
      const uint32_t pe_cpu = parts.pe_cpu(pes[i]);
      way.latest_ns = std::max(way.latest_ns, cube.arrival_ns + leg_ns(host, cube.node, pe_cpu));
      (*addresses)[i].stops[ControlAddress::kMCpu] = cube.node;
      (*addresses)[i].stops[ControlAddress::kPeCpu] = pe_cpu;
    }
  }
  way.addresses = std::move(addresses);
  return way;
}

LaunchWay direct_launch_way(LaunchHost& host, const std::vector<size_t>& pes) {
  const HostParts parts(host.machine().graph());
  auto addresses = std::make_shared<ControlAddresses>(pes.size());
  LaunchWay way;
  for (size_t i = 0; i < pes.size(); ++i) {
    const uint32_t pe_cpu = parts.pe_cpu(pes[i]);
    (*addresses)[i].stops[ControlAddress::kPeCpu] = pe_cpu;
    way.latest_ns = std::max(way.latest_ns, leg_ns(host, host.index(), pe_cpu));
  }
  way.addresses = std::move(addresses);
  return way;
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

LaunchWay choose_launch_way(LaunchHost& host, const std::vector<size_t>& pes, LaunchMode mode) {
  if (mode == LaunchMode::direct) return direct_launch_way(host, pes);
  try {
    return host_launch_way(host, pes);
  } catch (const HostPathError& e) {
    if (mode == LaunchMode::host) throw;
    LaunchWay way = direct_launch_way(host, pes);
    way.note = std::string("no host path: ") + e.what();
    return way;
  }
}

}  // namespace kernbench::launch
