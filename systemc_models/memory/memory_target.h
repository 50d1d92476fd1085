// Models: a memory at the end of the fabric; what hbm_ctrl, hbm_pc and sram have in common.
// Does not model: banks, refresh, read/write turn-round, finite request queues. Bytes are the memory image's
// (phase2/memory/memory_image.h); the transactions of this project's own initiators only take time here.
#pragma once

#include "kernbench/systemc_models/core/component.h"

namespace kernbench {

struct Flit;

/// Of a slice behind an hbm_ctrl.
struct HbmParameters : BlockParameters {
  double efficiency = 1;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    describe_efficiency(list);
  }
  template <class List>
  static void describe_efficiency(List& list) {
    list.add(&HbmParameters::efficiency, "efficiency", "",
             "share of the bandwidth of the edges that touch the controller")
        .positive()
        .max(1);
  }
};

class MemoryTarget : public Component {
 public:
  FabricTargetSocket<MemoryTarget> in{"in"};

  MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters&);

  FabricIn* fabric_in() override { return &in; }
  /// Asks for what a request touches here.
  void fetch_state() const {
    fetch_component();
    fetch_lines(&feeder_, 2);
  }
  /// First physical address that this memory serves.
  void set_base(uint64_t base) { base_ = base; }
  uint64_t base() const { return base_; }

  /// Flit mode: how many FIFO servers there are, which one a flit goes to, and how long it takes there; `edge_bw_gbs`
  /// is that of the edge that the data uses.
  virtual size_t flit_servers() const { return 1; }
  virtual size_t flit_server(uint64_t /*address*/) const { return 0; }
  virtual double flit_service_ns(double bytes, double edge_bw_gbs) const {
    return edge_bw_gbs > 0 ? bytes / edge_bw_gbs : 0;
  }

  /// A request's header is here at x.time_ns; it came over `from` (ideal links: no matter). For fabric_path.h.
  void request_arrived(FabricTransaction&, Link& from);
  /// A request's flit is here at its time_ns.
  void flit_arrived(Flit&, Link& from);
  /// Ideal links: true if a request that arrives at x.time_ns may be served at once, ahead of time: only its initiator
  /// sends here, and nothing of it is on its way.
  bool next_is(const Component& initiator) const { return feeder_ == &initiator && on_the_way_ == 0; }
  void serve_ahead(FabricTransaction& x) { serve_and_answer(x); }

  /// Who alone sends requests here: a link, or, with ideal links, an initiator. Null if several can.
  void set_feeder(const void* feeder) { feeder_ = ahead_ == Ahead::nothing ? nullptr : feeder; }
  /// Flit mode: the flits of one response leave with no other's between.
  bool answers_in_order() const { return ahead_ == Ahead::all_in_order; }

  /// Bytes after which the memory's lone service times repeat; 1: they do not depend on the address; 0: not known.
  virtual uint64_t address_period() const { return 0; }
  /// Time from arrival to finish of a transaction alone in an idle system, ns.
  virtual double lone_service_ns(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const = 0;

 protected:
  struct Service {
    double header_leaves_ns = 0;  ///< a read's response header leaves
    double finish_ns = 0;
    bool later = false;  ///< not known yet: the memory calls answer() when it is
  };
  /// Serves a transaction that arrives now, in order of arrival; books drain and wait in its account.
  virtual Service serve(FabricTransaction&) = 0;
  /// Answers a transaction: its service was as told. Not after header_leaves_ns.
  void answer(FabricTransaction&, const Service&);
  /// Flit mode: requests are given to serve() when all their flits are there, and answered later, all flits at once.
  void serve_whole_requests() { whole_requests_ = true; }
  /// What the memory may do ahead of time, once the order of its requests is certain: nothing (a block that asks the
  /// timeline for the time); serve(), read headers leaving a fixed time after their arrival; serve(), all responses
  /// leaving in the order of their requests. Set by the constructor.
  enum class Ahead : uint8_t { nothing, reads_in_order, all_in_order };
  Ahead ahead_ = Ahead::nothing;

 private:
  tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);
  static void arrived(void* self, void* transaction);
  static void departs(void* self, void* transaction);
  static void flit_ready(void* self, void* flit);
  static void flit_departs(void* self, void* transaction);
  void depart_in_flits(FabricTransaction&);
  Service begin_service(FabricTransaction&);
  void serve_and_answer(FabricTransaction&);
  void depart(FabricTransaction&);
  void take_flit(Flit&);
  void next_flit_departs(FabricTransaction&);
  double serve_flit(uint64_t address, double bytes, double ready_ns, double edge_bw_gbs);
  void send_answer(FabricTransaction&, double header_ns);
  double flit_start_ns(uint64_t address, double ready_ns) const;

  bool whole_requests_ = false;
  const void* feeder_ = nullptr;
  uint32_t on_the_way_ = 0;  ///< requests on the timeline that are to arrive
  uint32_t departing_ = 0;   ///< responses on the timeline that are to leave
  uint64_t arrivals_ = 0;
  uint64_t base_ = 0;
  std::vector<double> flit_free_ns_;  ///< by flit server
};

}  // namespace kernbench
