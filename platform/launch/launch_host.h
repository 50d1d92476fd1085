// The host as what sends launches and other messages to PEs: its sockets lead to every pcie_ep, from where a message
// goes on by io_cpu and m_cpu to the PEs' pe_cpus (timing contract §7), and past all of them to every pe_cpu itself, for
// launches that cost nothing. Uploads and read-backs are another thing: host_transfer.h.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <unordered_map>

#include "kernbench/platform/launch/launch_way.h"
#include "kernbench/systemc_models/fabric/control_legs.h"
#include "kernbench/systemc_models/fabric/fan_out.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench {

class Machine;

class LaunchHost : public Component, public FabricNode, public ControlTarget, private ControlSender {
 public:
  using Done = std::function<void(const HostResponse&)>;
  FabricInitiatorSocket out{"out", *this};

  /// Inside a module that is being constructed.
  LaunchHost(sc_core::sc_module_name name, Machine& machine);

  Machine& machine() const { return machine_; }
  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  bool takes_memory_traffic() const override { return false; }
  /// The port to a pcie_ep or a pe_cpu; null where none is bound.
  FabricPort* door(uint32_t node) const;

  /// A message to the PEs of a way leaves the host now (before the simulation: at 0). `done` is called once, at the
  /// instant when the host has the response, and may send again. Any number at once. Returns the correlation id (that of
  /// `ids` where it is not 0).
  uint64_t send(MessageIds ids, const LaunchWay&, std::shared_ptr<const ControlBody>, Done done);
  /// The same to some of its PEs, by their places in the way.
  uint64_t send(MessageIds ids, const LaunchWay&, std::vector<uint32_t> places, std::shared_ptr<const ControlBody>,
                Done done);

 private:
  struct Pending {
    Done done;
    std::list<Pending>::iterator self;
  };
  void bind(uint32_t node);
  void message_arrived(ControlMessage& m) override { fan_out_.pass_on(m); }
  void response_arrived(ControlMessage&) override;

  Machine& machine_;
  std::unordered_map<uint32_t, FabricPort*> doors_;  ///< by node
  FanOut fan_out_{*this};
  ControlLeg to_itself_;  ///< where a message begins
  std::list<Pending> pending_;
  uint64_t last_correlation_ = 0;
};

}  // namespace kernbench
