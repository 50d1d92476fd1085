// SPDX-License-Identifier: Apache-2.0
// Models blocks that pass memory traffic on: router, xbar, bridge, switch, ucie, noc, io_noc; also part of io_cpu and
// pcie_ep. A message's header is ready `overhead_ns` after its arrival (with `store_and_forward`: after all of its data
// has arrived). Then it takes its place on the outgoing link: immediately with ideal links, else first come first
// served. Timing rules §2, §3. With flits: finite input buffers, virtual channels and switch allocation
// (wormhole_links.h). Does not model a clock, its own pipeline (overhead_ns covers it), or a shared crossbar.
//
// A user-defined router overrides the route (way), the delay (delay_ns) or the arbitration (first).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/input_buffers.h"
#include "kernbench/systemc_models/fabric/reduction.h"

namespace kernbench::fabric {

struct RouterParameters : BufferParameters {
  bool store_and_forward = false;  ///< default true for a pcie_ep
  bool multicast = false, reduces = false;
  std::optional<double> reduce_bw_gbs;
  double reduce_ns = 0;
  std::string reduce_dtypes = "all";
  std::string allocation = "round_robin";
  template <class List>
  static void describe(List& list) {
    BufferParameters::describe(list);
    list.add(&RouterParameters::store_and_forward, "store_and_forward", "",
             "store and forward: pass a message on only after all its data has arrived")
        .faster_if(false);
    list.add(&RouterParameters::allocation, "allocation", "",
             "arbitration of the inputs' flits for a link; effective with buffer_flits")
        .of(SwitchAllocator::registry())
        .of(Limit::buffers);
    list.add(&RouterParameters::multicast, "multicast", "",
             "collectives with algorithm=auto may send multicasts through the block");
    list.add(&RouterParameters::reduces, "reduces", "", "add up the messages of a reduction that meet at the block");
    list.add(&RouterParameters::reduce_bw_gbs, "reduce_bw_gbs", "GB/s",
             "maximum rate of a sum on the next link; required with reduces: true")
        .rate();
    list.add(&RouterParameters::reduce_ns, "reduce_ns", "ns", "time of adding, in addition to overhead_ns").latency();
    list.add(&RouterParameters::reduce_dtypes, "reduce_dtypes", "",
             "element types that the block adds, joined by commas; all: every type");
  }
};

/// A message (in flit mode: a flit) that is ready to leave by a port and waits for its link.
struct WaitingMessage {
  double ready_ns = 0;
  Order order;  ///< among messages of one instant
  TimedCall turn;
  const FabricTransaction* transaction = nullptr;
  const Link* from = nullptr;  ///< incoming link; null beside a foreign block
};

/// Placed between the base classes, so that one cache line holds all router state that a message accesses.
struct RouterRules {
  bool store_and_forward_ = false;
  bool multicast_ = false;
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
  bool multicasts() const final { return multicast_; }
  const ReduceRules* reduce_rules() const final { return reduces_.get(); }
  bool costs_alike() const final { return !own_rules() && !store_and_forward_; }
  NodeCost passing_cost(const PassingMessage& m, const Link* from) const final {
    return {own_delay_ns(m), stored_ns(m, from)};
  }
  /// Whether it is a user-defined class, whose decisions must be queried; valid after construction.
  virtual bool own_rules() const;
  /// Whether the class overrides first(); false if the compiler cannot determine it.
  bool chooses_first() const;

  // For the link modes, after elaboration.
  /// The outgoing port of a request that arrived by `from`.
  FabricPort& way_of(FabricTransaction& x, FabricPort& from) {
    if (!custom_ && x.node < x.hop_count && x.hops[x.node - 1].in == &from &&
        (!x.rerouted || &x.hops[x.node].out->node() == this))
      return *x.hops[x.node].out;
    return find_way(x, from);
  }
  double delay_of(const PassingMessage& m) const { return custom_ ? own_delay_ns(m) : overhead_ns(); }
  /// passing_cost() without virtual calls.
  NodeCost cost_of(const PassingMessage& m, const Link* from) const { return {delay_of(m), stored_ns(m, from)}; }
  /// For a transaction that arrived by that port. If the delay is just the attribute, no message is described and no
  /// link is read, which avoids a cache miss.
  NodeCost cost_of(const FabricTransaction& x, bool response, const FabricPort& port) const {
    if (!custom_ && !store_and_forward_) return {overhead_ns(), 0};
    return cost_of(PassingMessage(x, response), port.incoming());
  }
  /// Wait of data that arrive by `from` for their remainder.
  double stored_ns(const PassingMessage& m, const Link* from) const {
    return store_and_forward_ && from ? from->transfer_ns(static_cast<double>(m.data_bytes())) : 0;
  }
  /// The first calls m.turn when the message may take the link of `port`. The second, for finite buffers, chooses the
  /// one that takes the link among the candidates, in order of readiness.
  size_t choose(const FabricPort&, const std::vector<WaitingMessage>&);
  void wait_for_turn(FabricPort& port, const WaitingMessage& m) {
    if (custom_) return arbitrate(port, m);
    timeline().at(m.ready_ns, m.order, m.turn);
  }

 protected:
  /// The route: the outgoing port of a request that arrived by `from`. Default: the port towards its address.
  virtual FabricPort& way(const FabricTransaction&, FabricPort& from);
  /// The delay from a header's arrival until it is ready to leave, without store-and-forward. ns, not negative.
  virtual double delay_ns(const PassingMessage&) const { return overhead_ns(); }
  /// The arbitration: index of the message that takes the link of `port`, among those that are ready when it is free,
  /// in order of readiness. Not called for ideal links. With finite buffers it is called flit by flit, with the flits
  /// that have space downstream.
  virtual size_t first(const FabricPort& port, const std::vector<WaitingMessage>&);

 private:
  struct Queue;
  double own_delay_ns(const PassingMessage&) const;
  FabricPort& find_way(FabricTransaction&, FabricPort& from);
  void arbitrate(FabricPort&, const WaitingMessage&);

  void end_of_elaboration() override { custom_ = own_rules(); }

  const std::unique_ptr<const ReduceRules> reduces_;
  const std::unique_ptr<SwitchAllocator> allocator_;
  const InputBuffers buffers_;
  std::map<const FabricPort*, std::unique_ptr<Queue>> queues_;  ///< of a user-defined router, by port
};

}  // namespace kernbench::fabric
