// SPDX-License-Identifier: Apache-2.0
// `links: flit` (timing rules §3): data move in flits, which are cut at multiples of flit_bytes of the address. A link
// is a FIFO server of flits. A message's first flit is ready overhead_ns after its arrival at a node. A later flit is
// ready at the later of its own arrival and the time at which the flit before it became ready.
//
// As long as a message's flits cannot mix with others (Link::unmixed), they move down the chain together, with one
// socket call for all of them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/fabric/link.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/reduction.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::fabric {

/// Reserves the link's next place, not before `from_ns`, for a flit that is ready at f.time_ns. Sets its time at the
/// other end.
inline void cross(Link& link, Flit& f, double from_ns = 0) {
  const double ready = f.time_ns;
  const auto take = [&] { return link.take(std::max(ready, from_ns), f.bytes + f.list_bytes); };
  const double start = f.slowed ? link.at_most(f.most_gbs, take) : take();
  f.slowed = false;
  link.messages += f.last;
  f.time_ns = link.free_ns + link.wire_ns;
  if (!link.observers) return;
  LinkCrossing c;
  c.response = f.response;
  c.first = f.index == 0;
  c.last = f.last;
  c.flit = f.index;
  c.ready_by = f.ready_by;
  c.header = false;
  c.bytes = f.bytes + f.list_bytes;
  c.ready_ns = ready;
  c.start_ns = start;
  c.end_ns = link.free_ns;
  c.arrive_ns = f.time_ns;
  link.observers->link_crossed(*f.transaction, link, c);
}

/// The flit has arrived at f.time_ns. Sets the time at which it is ready, given that time of the flit before it.
inline void become_ready(Flit& f, double overhead_ns, double& before_ns) {
  before_ns = f.index == 0 ? f.time_ns + overhead_ns : std::max(f.time_ns, before_ns);
  f.time_ns = before_ns;
  f.ready_by = f.index;
}

/// Time at which the next flit of a read leaves a memory that serves complete transactions. `done`: bytes that have
/// left.
inline double leaves_evenly_ns(const Flit& f, double& done, uint64_t nbytes, const Service& s) {
  done += f.data_bytes();
  const double share = done / static_cast<double>(nbytes);
  return share < 1 ? s.header_leaves_ns + (s.finish_ns - s.header_leaves_ns) * share : s.finish_ns;
}

/// The port by which a flit leaves node f.node, on its path there or back.
inline FabricPort& next_port(const Flit& f) {
  const FabricTransaction& x = *f.transaction;
  return f.response ? *x.back[f.node - 1].in : *x.hops[f.node].out;
}

class FlitLinks : public LinkMode {
 public:
  using LinkMode::LinkMode;
  uint64_t address_period() const override { return fabric_.timing().flit_bytes; }
  bool data_follow_header() const override { return false; }  // flits come one by one
  /// A message without data is one flit of header_bytes. Data flits carry no header, except with packets.
  double bytes_on_link(double data_bytes) const override {
    const bool headers = data_bytes == 0 || fabric_.timing().packet_flits > 0;
    return data_bytes + (headers ? fabric_.header_bytes(data_bytes) : 0);
  }
  LinkLaws laws() const override { return {false, true, true}; }
  void senders_known(const std::vector<Link*>&) const override;

  void start(FabricTransaction& x) override;
  tlm::tlm_sync_enum request_at_router(FabricTransaction&, Router&, FabricPort& in, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
  tlm::tlm_sync_enum request_at_memory(FabricTransaction&, MemoryTarget&, FabricPort& in, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
  bool message_comes(FabricTransaction&, FabricPort& in) override;
  double message_drain_ns(const Route&, uint64_t) const override { return 0; }
  tlm::tlm_sync_enum response_at(FabricTransaction&, FabricPort& out, tlm::tlm_phase&) override;
  void answer(FabricTransaction&, MemoryTarget&, const Service&) override;
  void data_came(FabricTransaction&, uint64_t nbytes, double t_ns) override;
  void came_in(FabricTransaction&, FabricPort&, bool response) override;
  void account_past_foreign_blocks(FabricTransaction&) const;
  void complete_account(FabricTransaction&) const override;
  ZeroLoad work_out(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&,
                    std::vector<ZeroLoadHop>* hops) const override;

 protected:
  Timeline& timeline() const { return fabric_.timeline(); }
  void make_request(FabricTransaction&) const;
  /// Serves a flit that is ready at the memory.
  void serve(Flit&, MemoryTarget&);
  /// The response's flits leave at their times.
  virtual void leave_memory(FabricTransaction&, MemoryTarget&);
  /// The flits whose times data_came() has reported leave, the next one at t_ns. All earlier ones have left.
  virtual void known_flits_leave(FabricTransaction&, double t_ns);
  void at_initiator(Flit&);

 private:
  FlitCuts cuts() const {
    const FabricTiming& t = fabric_.timing();
    return {t.flit_bytes, t.packet_flits, t.header_bytes};
  }
  void make_header(FabricTransaction&, bool response) const;
  void make_data(FabricTransaction&, bool response) const;
  void send_message(FabricTransaction&);
  void source_turn(FabricTransaction&);
  void at_router(FlitTrain, Router&, Link* from);
  void multicast_at_router(FlitTrain, Router&, Link* from);
  void reduction_at_router(FlitTrain, Router&, Link* from);
  void add_up_at_router(Reduction&, const std::vector<Reduction::Arrival>&, Router&);
  void acknowledgement_at_router(Flit&, Router&, Link* from);
  void acknowledge(FabricTransaction&, MemoryTarget&, double finish_ns);
  void hold(Flit&, Router&, Link* from, FabricPort& next);
  void held_turn(FabricTransaction&);
  /// A ready flit crosses the link to the next node of its path and is there at f.time_ns.
  void leave(Flit& f, Link& link) {
    cross(link, f);
    f.node = f.response ? f.node - 1 : f.node + 1;
  }
  void hand_on(FlitTrain train, FabricPort& port) { port.hand_on(train, timeline().delay_until(train.first.time_ns)); }
  void flit_turn(Flit& f) { go_on({f, 1}); }
  [[gnu::always_inline]] void go_on(FlitTrain train) {  // saves a stack frame for each hop of each flit
    FabricPort& port = next_port(train.first);
    for (uint32_t i = 0; i < train.count; ++i) leave(train[i], port.link);
    hand_on(train, port);
  }
  void at_memory(FlitTrain, MemoryTarget&, Link* from);
  static void memory_turn(MemoryTarget&, Flit&);
  void serve_whole(FabricTransaction&, MemoryTarget&);
  void serve_write_flit(Flit&, MemoryTarget&);
  void answer_write(FabricTransaction&, MemoryTarget&, double finish_ns);
  void serve_read(Flit&, MemoryTarget&);
  void departure_turn(FabricTransaction&);
  void next_departs(FabricTransaction&);
  void flit_came_in(Flit& f, FabricPort& port) override { enter(f, port); }
  void enter(Flit&, FabricPort&);
};

}  // namespace kernbench::fabric
