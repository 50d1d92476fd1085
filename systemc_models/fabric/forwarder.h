// Models: whatever passes memory traffic on: router, xbar, bridge, switch, ucie, noc, io_noc, io_cpu, pcie_ep.
// A message's header is ready `overhead_ns` after its arrival (with `store_and_forward`, when all of its data is
// there), then takes its place on the link of its route: at once with ideal links, in FIFO order under cut_through.
// Does not model: finite buffers, arbitration policies, virtual channels.
// Timing contract §2, §3.
#pragma once

#include "kernbench/systemc_models/core/component.h"

namespace kernbench {

struct Flit;

struct ForwarderParameters : BlockParameters {
  bool store_and_forward = false;  ///< default true for a pcie_ep
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&ForwarderParameters::store_and_forward, "store_and_forward", "",
             "pass data on only when all of it has arrived");
  }
};

class Forwarder : public Component {
 public:
  using Parameters = ForwarderParameters;
  FabricTargetSocket<Forwarder> in{"in"};
  FabricInitiatorSocket<Forwarder> out{"out"};

  Forwarder(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);

  FabricOut* fabric_out() override { return &out; }
  FabricIn* fabric_in() override { return &in; }
  bool stores_and_forwards() const override { return store_and_forward_; }
  bool forwards_plainly() const override { return true; }

 protected:
  /// A response (in flit mode: a flit of it) came for the transaction at this end of its route.
  virtual void response_at_end(FabricTransaction&, const sc_core::sc_time& /*delay*/) {}

 private:
  tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int id, tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);
  static void request_ready(void* self, void* transaction);
  static void response_ready(void* self, void* transaction);
  void forward_request(FabricTransaction&, double there_ns);
  void forward_response(FabricTransaction&, double there_ns);
  void flit_arrived(Flit&);
  static void flit_ready(void* self, void* flit);
  static void train_ready(void* self, void* transaction);
  void forward_flit(Flit&);

  bool store_and_forward_;
};

}  // namespace kernbench
