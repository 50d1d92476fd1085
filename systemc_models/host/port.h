// Models: a place where a foreign TLM-2.0 initiator attaches to the fabric: an end with a base-protocol target socket.
// Its transactions are those of a pe_dma at the same node, less that one's overhead (timing contract §2; interface
// contract "As a library"), and any number of them, or `outstanding`, are under way at once, reads and writes alike.
// Drivers (traffic, probe) can issue requests at it too. An unbound port takes no part.
// Does not model: the foreign initiator's clock, credits. How it answers: base_protocol_target.h and docs/tlm.md.
#pragma once

#include "kernbench/systemc_models/fabric/pooled_initiator.h"
#include "kernbench/systemc_models/memory/base_protocol_target.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench {

struct PortParameters : BlockParameters {
  std::optional<uint32_t> outstanding;
  bool allow_dmi = false;
  unsigned bus_width = 32;
  double timeout_ns = 0;
  double issue_ns = 0, read_overhead_ns = 0, write_overhead_ns = 0, post_overhead_ns = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PortParameters::outstanding, "outstanding", "", "transactions under way; unlimited where not given")
        .depth();
    list.add(&PortParameters::allow_dmi, "allow_dmi", "", "hand out pointers to memory (TLM-2.0 DMI)");
    describe_bus_width(list, &PortParameters::bus_width);
    describe_timeout(list, &PortParameters::timeout_ns);
    list.add(&PortParameters::issue_ns, "issue_ns", "ns", "from one command to the next, at the least").latency();
    list.add(&PortParameters::read_overhead_ns, "read_overhead_ns", "ns", "what a read takes before it leaves")
        .latency();
    list.add(&PortParameters::write_overhead_ns, "write_overhead_ns", "ns",
             "the same of a write that is acknowledged, and of an atomic")
        .latency();
    list.add(&PortParameters::post_overhead_ns, "post_overhead_ns", "ns", "the same of a posted write").latency();
  }
};

class Port : public Component, public FabricNode, public PooledInitiator {
 public:
  using Parameters = PortParameters;
  FabricInitiatorSocket out{"out", *this};

  Port(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& = {});
  static ImplSpec spec();

  /// The socket that a foreign initiator binds to: a tlm_target_socket of `bus_width` bits. std::logic_error that names
  /// the attribute where W is not that width.
  template <unsigned W = 32>
  OptionalTargetSocket<W>& socket() const {
    return socket_.as<W>();
  }
  BaseProtocolTarget& transport() { return transport_; }
  /// What watches the socket; null where the build has none (KERNBENCH_CHECK_TLM).
  ProtocolMonitor* monitor() const { return socket_.monitor(); }
  /// Why the last transaction with an error response had one; empty if none had.
  const std::string& last_error() const { return transport_.last_error(); }
  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

 private:
  /// Of a command, before it leaves.
  struct Costs {
    double read_ns, write_ns, post_ns;
  };
  void end_of_elaboration() override { transport_.set_backward(socket_.backward()); }
  Order done_order(const FabricTransaction&) const override;

  double begin_ns(const PassingMessage&) const override;

  const Costs costs_;
  BaseProtocolTarget transport_;
  WideTargetSocket socket_;
};

}  // namespace kernbench
