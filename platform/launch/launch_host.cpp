// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/launch_host.h"

#include <numeric>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/platform/topology/route/resolver.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::launch {
namespace {

/// Legs along the topology's shortest paths. HostPathError if there is none.
class LaunchLegs : public ControlLegs {
 public:
  explicit LaunchLegs(LaunchHost& host) : ControlLegs(host.fabric()), host_(host) {}

 private:
  std::vector<FabricPort*> find(FabricNode& from, FabricNode& to) override {
    uint32_t first = from.owner().index();
    const uint32_t last = to.owner().index();
    std::vector<FabricPort*> ways;
    if (&from == &host_) {
      const uint32_t entry = host_.port_to(last) ? last : endpoint_of(last);
      if (!host_.port_to(entry)) throw HostPathError(id_of(entry) + ": has no socket for messages of the host");
      ways.push_back(host_.port_to(entry));
      first = entry;
    }
    try {
      const std::vector<uint32_t> path = host_.machine().routes().paths().find_path(first, last);
      for (const Hop& hop : host_.machine().blocks().hops(path, "messages")) ways.push_back(hop.out);
    } catch (const topology::RouteError& e) {
      throw HostPathError(e.what());
    } catch (const AccessError& e) {
      throw HostPathError(e.what());
    }
    return ways;
  }

  /// The pcie_ep of an io_cpu's SIP.
  uint32_t endpoint_of(uint32_t io_cpu) const {
    try {
      return topology::AddressResolver(graph()).find_pcie_ep(topology::naming::owner_of(id_of(io_cpu)).sip);
    } catch (const topology::ResolveError& e) {
      throw HostPathError(id_of(io_cpu) + ": " + e.what());
    }
  }

  const topology::Graph& graph() const { return host_.machine().graph(); }
  const std::string& id_of(uint32_t node) const { return graph().nodes[node].id; }

  LaunchHost& host_;
};

/// After the nodes of the graph, so that their order is unchanged.
ComponentConfig behind_all(Machine& machine) {
  return ComponentConfig(machine.system(), "host", static_cast<uint32_t>(machine.graph().nodes.size()));
}

}  // namespace

LaunchHost::LaunchHost(sc_core::sc_module_name name, Machine& machine)
    : Component(name, behind_all(machine), BlockParameters{}),
      FabricNode(static_cast<Component&>(*this)),
      machine_(machine) {
  to_itself_.end = this;
  to_itself_.target = this;
  const topology::Graph& graph = machine.graph();
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].kind == "pcie_ep") add_connection(n);
  }
  for (const topology::Pe& pe : graph.pes) {
    if (const auto cpu = pe.blocks.find("pe_cpu"); cpu != pe.blocks.end()) add_connection(cpu->second);
  }
  fabric().set_control_legs(std::make_unique<LaunchLegs>(*this));
}

void LaunchHost::add_connection(uint32_t node) {
  FabricNode* to = machine_.blocks().component(node).fabric_node();
  if (!to || !to->target_socket()) return;
  Connection& connection = connections_[node];
  connection.here = &port_for_binding();
  connection.there = &to->port_for_binding();
  if (to->request_port()) connection.requests = std::make_unique<RemoteRequestPort>(*connection.here);
}

void LaunchHost::before_end_of_elaboration() {
  for (const auto& [node, connection] : connections_) {
    if (!connection.foreign) kernbench::bind(*connection.here, *connection.there);
  }
}

FabricPort* LaunchHost::port_to(uint32_t node) const {
  const auto it = connections_.find(node);
  return it == connections_.end() ? nullptr : it->second.here;
}

RequestPort* LaunchHost::requests_to(uint32_t pcie_ep) const {
  const auto it = connections_.find(pcie_ep);
  return it == connections_.end() ? nullptr : it->second.requests.get();
}

ForeignNode& LaunchHost::foreign_to(const std::string& id) {
  const auto& index_of = machine_.graph().index_of;
  const auto node = index_of.find(id);
  const auto it = node == index_of.end() ? connections_.end() : connections_.find(node->second);
  if (it == connections_.end())
    throw InputError("host: found '" + id + "', to which it has no socket; legal: a pcie_ep or pe_cpu");
  Connection& connection = it->second;
  if (!connection.foreign) {
    connection.foreign = std::make_unique<ForeignNode>(
        sc_core::sc_gen_unique_name("host_foreign"),
        ComponentConfig(machine_.system(), "the way from the host to " + id, index() + 1));
    connection.foreign->add_neighbour(*connection.here, true, false);
    connection.foreign->add_neighbour(*connection.there, false, true);
    machine_.blocks().add_foreign_node();
  }
  return *connection.foreign;
}

uint64_t LaunchHost::send(MessageIds ids, const LaunchWay& way, std::shared_ptr<const ControlBody> body, Done done) {
  std::vector<uint32_t> all(way.addresses->size());
  std::iota(all.begin(), all.end(), 0u);
  return send(ids, way, std::move(all), std::move(body), std::move(done));
}

uint64_t LaunchHost::send(MessageIds ids, const LaunchWay& way, std::vector<uint32_t> places,
                          std::shared_ptr<const ControlBody> body, Done done) {
  pending_.emplace_back();
  Pending& pending = pending_.back();
  pending.done = std::move(done);
  pending.self = std::prev(pending_.end());
  if (ids.correlation == 0) ids.correlation = ++last_correlation_;
  ControlMessage& m = fabric().messages().acquire(ids.correlation);
  m.body = std::move(body);
  m.addresses = way.addresses;
  m.places = std::move(places);
  m.next_stop = way.mode == LaunchMode::host ? ControlAddress::kIoCpu : ControlAddress::kPeCpu;
  m.context = &pending;
  m.send(to_itself_, *this, timeline().now_ns(), 0);
  return ids.correlation;
}

void LaunchHost::response_arrived(ControlMessage& m) {
  Pending& pending = *static_cast<Pending*>(m.context);
  const Done done = std::move(pending.done);
  pending_.erase(pending.self);
  done(m.response);
}

}  // namespace kernbench::launch
