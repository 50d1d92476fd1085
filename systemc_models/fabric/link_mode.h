// The law of the links (timing contract §2, §3): how a message goes from its source over links and nodes to its end.
// One class a mode, each in a file of its own, registered there by one line under the name that `timing.links` has;
// lone latencies come from the same functions that time a transaction. Nobody else knows which modes there are: others
// ask a mode for what they need, and core/links.h for what can be known before it is made.
//
// Where no order is to be decided a message takes its place at once, ahead of time (ahead_of_time.h), and the chain of
// calls goes on with an annotated delay. Elsewhere it waits on the timeline until it is ready, and takes its place in
// its turn.
#pragma once

#include <memory>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/core/links.h"
#include "kernbench/systemc_models/fabric/route.h"
#include "kernbench/systemc_models/fabric/transaction.h"

namespace kernbench {

class FabricInitiator;
class FabricNode;
class FabricPort;
class MemoryTarget;
class Router;
struct Link;
struct FabricTiming;

/// A node of an isolated transaction's path: when its header (in flit mode: its first flit) is there, and what the node
/// costs before it leaves again. ns, times from the grant.
struct ZeroLoadHop {
  const FabricNode* node = nullptr;
  const Link* link = nullptr;  ///< by which it leaves; null: it ends there
  uint32_t number = 0;         ///< of the node: 0 is the initiator
  bool response = false;
  double arrive_ns = 0;
  double overhead_ns = 0;
  double store_forward_ns = 0;  ///< wait for the rest of the data
  double drain_ns = 0;          ///< data served here (memory) or awaited here (initiator, after a routed read's header)
  double transfer_ns = 0;       ///< flit mode: the first flit onto the link that leaves
  double leave_ns() const { return arrive_ns + overhead_ns + store_forward_ns + drain_ns; }
};

/// A memory's service as the memory states it, with its account: what of it is overhead, wait for others, data. The
/// rest is the memory's own time.
struct Service {
  double header_leaves_ns = 0;  ///< a read's response header leaves
  double finish_ns = 0;
  /// What a read's data take behind the header where they do not wait; −1: finish − header leaves.
  double stream_ns = -1;
  bool later = false;  ///< not known yet: the memory calls answer() when it is
  ServiceBound bound = ServiceBound::memory;
  double overhead_ns = 0, queue_ns = 0, drain_ns = 0;
};

/// What holds of a mode's times beyond the contract's formulas: for who checks them.
struct LinkLaws {
  bool reads_take_what_writes_take = true;  ///< alone, over links that are alike there and back
  bool streams_share_evenly = false;        ///< where they merge
  bool isolated_messages_never_wait = true;
};

class LinkMode {
 public:
  explicit LinkMode(Fabric& fabric) : fabric_(fabric) {}
  virtual ~LinkMode() = default;

  /// A transaction that has been granted now leaves its initiator, overhead_ns later.
  virtual void start(FabricTransaction&) = 0;
  /// A request has come to a block that passes it on; over `in`, its header there at x.time_ns.
  virtual tlm::tlm_sync_enum request_at_router(FabricTransaction&, Router&, FabricPort& in, tlm::tlm_phase&,
                                               sc_core::sc_time& delay) = 0;
  /// A request has come to its memory.
  virtual tlm::tlm_sync_enum request_at_memory(FabricTransaction&, MemoryTarget&, FabricPort& in, tlm::tlm_phase&,
                                               sc_core::sc_time& delay) = 0;
  /// A response has come back to a router or its initiator, over the port by which the request had left.
  virtual tlm::tlm_sync_enum response_at(FabricTransaction&, FabricPort& out, tlm::tlm_phase&) = 0;
  /// A posted message (in flit mode: a flit of it) has come by `in` to the block where it ends. True: it is there, its
  /// header (flits: its last one) at x.time_ns.
  virtual bool message_comes(FabricTransaction&, FabricPort& in) = 0;
  /// Whether what has arrived is a header, whose data come behind it (a posted message's hold a server there), or all.
  virtual bool data_follow_header() const = 0;
  /// How long a posted message's do, ns.
  virtual double message_drain_ns(const Route&, uint64_t nbytes) const = 0;
  /// Among those that arrive at one instant at a server that keeps order: of a message that comes by `in` at x.time_ns.
  Order arrival_order(const FabricTransaction&, const FabricPort& in, const void* server) const;
  /// The memory's service, which it could not tell at once, was like that.
  virtual void answer(FabricTransaction&, MemoryTarget&, const Service&) = 0;
  /// Before such an answer: all of a read's bytes before `nbytes` are there at t_ns, not before the present. Flits do
  /// not wait for the others; a header does.
  virtual void data_came(FabricTransaction&, uint64_t /*nbytes*/, double /*t_ns*/) {}
  /// A request or a response has come out of the foreign block at `port`, at x.time_ns, which is now: it takes the link
  /// from there, and goes on.
  virtual void came_in(FabricTransaction&, FabricPort& port, bool response) = 0;
  /// A flit has come past the foreign block at `port` behind the first of its message.
  virtual void flit_came_in(Flit&, FabricPort&) {}
  /// The account of a transaction that is done, where it is not kept hop by hop.
  virtual void complete_account(FabricTransaction&) const {}

  /// Zero-load latency of a transaction on a path that is known (Route::known); of a message to its end.
  ZeroLoad zero_load(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const;
  /// Its latency, ns; NaN where a foreign block is on the way.
  double formula_ns(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const;
  /// The same worked out anew, with the nodes of its path where they are asked for.
  virtual ZeroLoad work_out(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&,
                            std::vector<ZeroLoadHop>* hops = nullptr) const = 0;
  /// Whether links are servers that messages wait for.
  virtual bool links_serve() const { return true; }
  /// What a message with so many bytes of data takes on a link, bytes.
  virtual double bytes_on_link(double data_bytes) const = 0;
  virtual LinkLaws laws() const { return {}; }
  /// Whether the initiator itself is who sends to a memory, as links keep no order; else it is the last link.
  bool initiators_send_to_memories() const { return !links_serve(); }
  /// Links, with who alone sends on each (Link::sole_sender), before anything is sent: what follows for the mode.
  virtual void senders_known(const std::vector<Link*>&) const {}
  /// Who waits for whom where messages can stand still: a line each; what waits in a circle first.
  virtual std::vector<std::string> waiting() const { return {}; }
  /// Bytes at whose multiples an address counts for zero-load latencies.
  virtual uint64_t address_period() const { return 1; }

 protected:
  /// An atomic's memory has its place in the order of service, and is finished with it at finish_ns, not before now.
  static void takes_effect(FabricTransaction&, double finish_ns);

  Fabric& fabric_;
};

template <class Mode>
std::unique_ptr<LinkMode> make_link_mode(Fabric& fabric) {
  return std::make_unique<Mode>(fabric);
}

struct LinkModeRegistration {
  explicit LinkModeRegistration(LinkModeSpec spec) { link_modes().add(std::move(spec)); }
};

}  // namespace kernbench

/// In the .cpp of a mode, with its LinkModeSpec (core/links.h).
#define KERNBENCH_REGISTER_LINK_MODE(spec) KERNBENCH_REGISTER_LINK_MODE_AS(spec, __COUNTER__)
#define KERNBENCH_REGISTER_LINK_MODE_AS(spec, n) KERNBENCH_REGISTER_LINK_MODE_NAMED(spec, n)
#define KERNBENCH_REGISTER_LINK_MODE_NAMED(spec, n)                         \
  namespace {                                                               \
  const ::kernbench::LinkModeRegistration link_mode_registration_##n(spec); \
  }
