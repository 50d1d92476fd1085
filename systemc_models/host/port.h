// SPDX-License-Identifier: Apache-2.0
// Models the attachment of a foreign TLM-2.0 initiator to the fabric: an endpoint with a base-protocol target socket.
// Its transactions take the time of a pe_dma at the same node, without that block's overhead (timing rules §2;
// interface rules "As a library"). Any number, or `outstanding`, are in flight at the same time, reads and writes
// together. Drivers (traffic, probe) can also issue requests at it. An unbound port is inactive. Does not model the
// foreign initiator's clock, or credits. base_protocol_target.h and docs/tlm.md describe its responses.
#pragma once

#include "kernbench/systemc_models/fabric/pooled_initiator.h"
#include "kernbench/systemc_models/memory/base_protocol_target.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench::io {

struct PortParameters : BlockParameters {
  std::optional<uint32_t> outstanding;
  bool allow_dmi = false;
  unsigned bus_width = 32;
  double timeout_ns = 0;
  double issue_ns = 0, read_overhead_ns = 0, write_overhead_ns = 0, post_overhead_ns = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PortParameters::outstanding, "outstanding", "", "outstanding transactions; default: unlimited").depth();
    list.add(&PortParameters::allow_dmi, "allow_dmi", "", "hand out pointers to memory (TLM-2.0 DMI)");
    describe_bus_width(list, &PortParameters::bus_width);
    describe_timeout(list, &PortParameters::timeout_ns);
    list.add(&PortParameters::issue_ns, "issue_ns", "ns", "minimum interval between two commands").latency();
    list.add(&PortParameters::read_overhead_ns, "read_overhead_ns", "ns", "delay of a read before it leaves the port")
        .latency();
    list.add(&PortParameters::write_overhead_ns, "write_overhead_ns", "ns",
             "delay of an acknowledged write or an atomic")
        .latency();
    list.add(&PortParameters::post_overhead_ns, "post_overhead_ns", "ns", "delay of a posted write").latency();
  }
};

class Port : public Component, public FabricNode, public PooledInitiator {
 public:
  using Parameters = PortParameters;
  FabricInitiatorSocket out{"out", *this};

  Port(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& = {});
  static ImplSpec spec();

  /// The socket for a foreign initiator: a tlm_target_socket of `bus_width` bits. std::logic_error that names the
  /// attribute for another W.
  template <unsigned W = 32>
  OptionalTargetSocket<W>& socket() const {
    return socket_.as<W>();
  }
  BaseProtocolTarget& transport() { return transport_; }
  /// The monitor of the socket; null without KERNBENCH_CHECK_TLM.
  ProtocolMonitor* monitor() const { return socket_.monitor(); }
  /// Reason of the last error response; empty if there was none.
  const std::string& last_error() const { return transport_.last_error(); }
  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

 private:
  /// Delays of a command before it leaves the port.
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

}  // namespace kernbench::io
