// Models: whatever passes memory traffic on: router, xbar, bridge, switch, ucie, noc, io_noc; io_cpu and pcie_ep do it
// too.
// A message's header is ready `overhead_ns` after its arrival (with `store_and_forward`, when all of its data is
// there), then takes its place on the link by which it leaves: at once with ideal links, else first come first served.
// Timing contract §2, §3.
// Finite buffers at its inputs, virtual channels and switch allocation, in flit mode: wormhole_links.h.
// Does not model: a clock, a pipeline of its own (overhead_ns stands for it), a crossbar that inputs have to share.
//
// A router of one's own overrides what it does otherwise: which way (way), how long (delay_ns), who first (first).
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/input_buffers.h"

namespace kernbench {

struct RouterParameters : BufferParameters {
  bool store_and_forward = false;  ///< default true for a pcie_ep
  std::string allocation = "round_robin";
  template <class List>
  static void describe(List& list) {
    BufferParameters::describe(list);
    list.add(&RouterParameters::store_and_forward, "store_and_forward", "",
             "pass data on only when all of it has arrived")
        .faster_if(false);
    list.add(&RouterParameters::allocation, "allocation", "",
             "who goes first onto a link, of the inputs' flits; counts with buffer_flits")
        .of(SwitchAllocator::registry())
        .of(Limit::buffers);
  }
};

/// A message (in flit mode: a flit) that is ready to leave by a port and waits for its turn there.
struct WaitingMessage {
  double ready_ns = 0;
  Order order;  ///< among those of one instant
  TimedCall turn;
  const FabricTransaction* transaction = nullptr;
  const Link* from = nullptr;  ///< by which it has come; null beside a foreign block
};

/// Between the base classes, so that all that a message looks at in a router is one cache line.
struct RouterRules {
  bool store_and_forward_ = false;
  bool custom_ = false;
};

class Router : public Component, private RouterRules, public FabricNode {
 public:
  using Parameters = RouterParameters;
  FabricTargetSocket in{"in", *this};
  FabricInitiatorSocket out{"out", *this};

  Router(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& = {});
  ~Router() override;

  FabricNode* fabric_node() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  InputBuffers input_buffers() const override { return buffers_; }
  tlm::tlm_sync_enum request_in(FabricTransaction& x, FabricPort& port, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) override {
    return fabric().mode().request_at_router(x, *this, port, phase, delay);
  }
  bool stores_and_forwards() const final { return store_and_forward_; }
  bool costs_alike() const final { return !own_rules() && !store_and_forward_; }
  NodeCost passing_cost(const PassingMessage& m, const Link* from) const final {
    return {own_delay_ns(m), stored_ns(m, from)};
  }
  /// Whether it is a class of one's own, whose decisions are asked for; known from the end of construction on.
  virtual bool own_rules() const;
  /// Whether the class overrides first(); false where the compiler cannot say it.
  bool chooses_first() const;

  // For the link modes, from the end of elaboration on.
  /// The port by which the request leaves that has come by `in`.
  FabricPort& way_of(FabricTransaction& x, FabricPort& from) {
    if (!custom_ && x.node < x.hop_count && x.hops[x.node - 1].in == &from &&
        (!x.rerouted || &x.hops[x.node].out->node() == this))
      return *x.hops[x.node].out;
    return find_way(x, from);
  }
  double delay_of(const PassingMessage& m) const { return custom_ ? own_delay_ns(m) : overhead_ns(); }
  /// passing_cost() without its virtual calls.
  NodeCost cost_of(const PassingMessage& m, const Link* from) const { return {delay_of(m), stored_ns(m, from)}; }
  /// Of a transaction that has come by that port. Where it is the attribute alone, nobody describes the message or
  /// looks at the link, which is far from what a message touches here.
  NodeCost cost_of(const FabricTransaction& x, bool response, const FabricPort& port) const {
    if (!custom_ && !store_and_forward_) return {overhead_ns(), 0};
    return cost_of(PassingMessage(x, response), port.incoming());
  }
  /// What data that come by `from` wait for their rest.
  double stored_ns(const PassingMessage& m, const Link* from) const {
    return store_and_forward_ && from ? from->transfer_ns(static_cast<double>(m.data_bytes())) : 0;
  }
  /// Calls m.turn when it is the message's turn at the link of `port`.
  /// With finite buffers: who takes the link, of those that could, in the order in which they became ready.
  size_t choose(const FabricPort&, const std::vector<WaitingMessage>&);
  void wait_for_turn(FabricPort& port, const WaitingMessage& m) {
    if (custom_) return arbitrate(port, m);
    timeline().at(m.ready_ns, m.order, m.turn);
  }

 protected:
  /// Which way: the port by which a request leaves that has come by `from`; by default the one towards its address.
  virtual FabricPort& way(const FabricTransaction&, FabricPort& from);
  /// How long: from a header's arrival until it is ready to leave, without what store-and-forward adds. ns, not
  /// negative.
  virtual double delay_ns(const PassingMessage&) const { return overhead_ns(); }
  /// Who first: of messages that are ready when the link of `port` is free, in the order in which they became ready,
  /// the index of the one that takes it. Ideal links are no servers, so nobody is asked. With finite buffers it is
  /// asked flit by flit, of those for which there is room behind.
  virtual size_t first(const FabricPort& port, const std::vector<WaitingMessage>&);

 private:
  struct Queue;
  double own_delay_ns(const PassingMessage&) const;
  FabricPort& find_way(FabricTransaction&, FabricPort& from);
  void arbitrate(FabricPort&, const WaitingMessage&);

  void end_of_elaboration() override { custom_ = own_rules(); }

  const std::unique_ptr<SwitchAllocator> allocator_;
  const InputBuffers buffers_;
  std::map<const FabricPort*, std::unique_ptr<Queue>> queues_;  ///< of a router of one's own, by port
};

}  // namespace kernbench
