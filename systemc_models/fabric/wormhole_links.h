// SPDX-License-Identifier: Apache-2.0
// `links: flit` with buffer_flits at nodes: wormhole switching with virtual channels and credits. Costs of a flit on a
// link and at a node are those of flit_links.h. This class decides which flit may move, and when. docs/flow_control.md
// has the rules.
//
// Models a FIFO buffer for each virtual channel of each input; credits, which return over the link's wire; virtual
// channels that a message holds from its first flit to its last; separate channels for requests and responses; switch
// allocation round robin or by age. Does not model a crossbar whose inputs are shared by their virtual channels, or
// routes that depend on the load.
//
// A multicast at a fork: each branch has a queue of copies, from which it takes flits by itself. The flit in the input
// buffer keeps its space until all branches have taken it. The message fits whole there (check_forks), so no branch
// waits for another.
//
// There is no early reservation: a flit waits on the timeline until it is ready, then in its buffer.
//
// Each node stores its own end of a link: LinkOutput at the sender, InputPort at the receiver. They exchange only flits
// and credits, over the sockets.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/flit_links.h"
#include "kernbench/systemc_models/fabric/input_port.h"
#include "kernbench/systemc_models/fabric/link_output.h"

namespace kernbench::fabric {

class WormholeLinks : public FlitLinks {
 public:
  using FlitLinks::FlitLinks;

  void start(FabricTransaction& x) override;
  tlm::tlm_sync_enum request_at_router(FabricTransaction&, Router&, FabricPort& in, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
  tlm::tlm_sync_enum request_at_memory(FabricTransaction&, MemoryTarget&, FabricPort& in, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
  tlm::tlm_sync_enum response_at(FabricTransaction&, FabricPort& out, tlm::tlm_phase&) override;
  std::vector<std::string> waiting() const override;
  LinkLaws laws() const override { return {false, true, false}; }  // even an isolated message may wait for credits

 private:
  LinkOutput& output(FabricPort&);
  InputPort& input(FabricPort&);
  void make_ready(Flit& f) {
    f.state = Flit::State::ready;
    f.turn = ++turns_;
  }
  // Initiators.
  void source_turn(FabricTransaction&);
  void at_end(Flit&, FabricPort& in);
  // Nodes that pass flits on.
  void at_router(Flit&, Router&, FabricPort& in);
  void add_up(Flit&, Router&, FabricPort& in);
  void acknowledgement_at_router(Flit&, Router&, InputChannel&);
  Fork* fork_of(Flit&, InputChannel&);
  Fork& fork_into(const std::vector<FabricTransaction*>&, FabricTransaction&, InputChannel&);
  void at_fork(Flit&, Router&, Fork&);
  void copy_to_branches(Flit&, Router&, Fork&, double arrival_ns);
  void taken(Branch&);
  void leave_branch(Branch&, bool last);
  void join(Flit&, Router&, FabricPort& in);
  void joined_turn(InputChannel&);
  void absorb(Flit&);
  void ready_turn(Flit&);
  void stored_turn(Flit&);
  void store(InputChannel&);
  void forward_at(double ready_ns, InputChannel&, Flit& last);
  void forward_turn(Flit& last);
  void advance(InputChannel&);
  void leave_input(InputChannel&);
  // Links.
  void offer(FlitQueue&);
  void ask(LinkOutput&, bool by_credit = false);
  void allocate(LinkOutput&);
  void send(LinkOutput&, FlitQueue&);
  void give_credit(const InputChannel&, FabricTransaction&, FabricPort& in, bool response, double at_ns);
  void credit_comes(FabricPort&, const Credit&);
  static void credit_turn(LinkOutput&, OutputChannel&);
  // Memories.
  void memory_turn(Flit&);
  void take(InputChannel&);
  void served_turn(InputChannel&);
  void leave_memory(FabricTransaction&, MemoryTarget&) override;
  void known_flits_leave(FabricTransaction&, double t_ns) override;
  ResponseQueue& acquire_response(FabricTransaction&, MemoryTarget&);
  static void departure_turn(ResponseQueue&, FabricTransaction&);
  void leave_outlet(ResponseQueue&, bool last);

  uint64_t turns_ = 0;  ///< number of the last flit that became ready
  std::deque<LinkOutput> outputs_;
  std::deque<InputPort> inputs_;
  std::unordered_map<const MemoryTarget*, Outlet> outlets_;
  std::unordered_map<const FabricTransaction*, ResponseQueue*> coming_;  ///< reads with outstanding data
};

/// AccessError for a message of `nbytes` to `address` and other destinations that does not fit whole into every buffer
/// of a fork of its routes (multicast rules §19.7).
void check_forks(const Fabric&, const std::vector<const Route*>&, uint64_t address, uint64_t nbytes);

}  // namespace kernbench::fabric
