// SPDX-License-Identifier: Apache-2.0
// The host as a module. Its sockets lead to every pcie_ep and, for launches without cost, to every pe_cpu. Launches and
// other messages go from a pcie_ep by io_cpu and m_cpu to the PEs' pe_cpus (timing rules §7). Uploads, read-backs and
// DMA (host_transfer.h, host_dma.h, host_interface.h) are requests that the pcie_ep issues.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>

#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/launch/launch_way.h"
#include "kernbench/systemc_models/fabric/control_legs.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/fan_out.h"
#include "kernbench/systemc_models/fabric/request_message.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

class LaunchHost : public Component, public FabricNode, public ControlTarget, private ControlSender {
 public:
  using Done = std::function<void(const HostResponse&)>;
  FabricInitiatorSocket out{"out", *this};

  /// Call it inside a module under construction.
  LaunchHost(sc_core::sc_module_name name, Machine& machine);

  Machine& machine() const { return machine_; }
  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  bool takes_memory_traffic() const override { return false; }
  /// The port to a pcie_ep or a pe_cpu; null if none is bound.
  FabricPort* port_to(uint32_t node) const;
  /// The port for the host's requests to a pcie_ep; null if its class issues none.
  RequestPort* requests_to(uint32_t pcie_ep) const;
  /// Leaves the sockets between host and a pcie_ep or pe_cpu to a user's block, before the simulation:
  /// foreign_to("sip0.io0.pcie_ep").bind(tap.target_socket, "host"), and the block's initiator socket to the pcie_ep's
  /// id. InputError, one line, if the host has no socket to that block.
  ForeignNode& foreign_to(const std::string& id);

  /// Sends a message to the PEs of a route at the present (before the simulation: at 0). `done` is called once, when
  /// the host has the response, and may send again. Any number may be in flight. Returns the correlation id (that of
  /// `ids` if it is not 0).
  uint64_t send(MessageIds ids, const LaunchWay&, std::shared_ptr<const ControlBody>, Done done);
  /// The same to some of the PEs, by their places in the route.
  uint64_t send(MessageIds ids, const LaunchWay&, std::vector<uint32_t> places, std::shared_ptr<const ControlBody>,
                Done done);

 private:
  struct Pending {
    Done done;
    std::list<Pending>::iterator self;
  };
  /// Created at once; bound when it is certain that no foreign block is between.
  struct Connection {
    FabricPort *here = nullptr, *there = nullptr;
    std::unique_ptr<RemoteRequestPort> requests;
    std::unique_ptr<ForeignNode> foreign;
  };
  void add_connection(uint32_t node);
  void before_end_of_elaboration() override;
  void message_arrived(ControlMessage& m) override { fan_out_.pass_on(m); }
  void response_arrived(ControlMessage&) override;

  Machine& machine_;
  std::map<uint32_t, Connection> connections_;  ///< by node
  FanOut fan_out_{*this};
  ControlLeg to_itself_;  ///< start of a message
  std::list<Pending> pending_;
  uint64_t last_correlation_ = 0;
};

}  // namespace kernbench::launch
