// SPDX-License-Identifier: Apache-2.0
// Interface of a link mode (timing rules §2, §3): it moves a message from its source over links and nodes to its end.
// Each mode is a class in its own file and registers there under its name in `timing.links`. Zero-load latencies use
// the same functions that time transactions. No other code names a mode: it queries the mode, or core/links.h for facts
// that are known without an instance.
//
// If no order must be decided, a message reserves its place early (ahead_of_time.h), and the chain of calls continues
// with an annotated delay. Otherwise the message waits on the timeline until it is ready, and then takes its place in
// order.
#pragma once

#include <memory>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/core/links.h"
#include "kernbench/systemc_models/fabric/route.h"
#include "kernbench/systemc_models/fabric/transaction.h"

namespace kernbench::fabric {

class FabricInitiator;
class FabricNode;
class FabricPort;
class MemoryTarget;
class Router;
struct Link;
struct FabricTiming;

/// A node of an isolated transaction's path: arrival of its header (in flit mode: its first flit), and the node's costs
/// before it leaves. ns, times from the grant.
struct ZeroLoadHop {
  const FabricNode* node = nullptr;
  const Link* link = nullptr;  ///< outgoing link; null: the path ends here
  uint32_t number = 0;         ///< number of the node: 0 is the initiator
  bool response = false;
  double arrive_ns = 0;
  double overhead_ns = 0;
  double store_forward_ns = 0;  ///< wait for the rest of the data
  double drain_ns = 0;          ///< data served here (memory) or awaited here (initiator, after a routed read's header)
  double transfer_ns = 0;       ///< flit mode: transfer of the first flit onto the outgoing link
  double leave_ns() const { return arrive_ns + overhead_ns + store_forward_ns + drain_ns; }
};

/// A memory's service as stated by the memory, with its breakdown: overhead, waits for others, data. The rest is the
/// memory's own time.
struct Service {
  double header_leaves_ns = 0;  ///< a read's response header leaves
  double finish_ns = 0;
  /// Time of a read's data after the header, without waits; −1: finish − header leaves.
  double stream_ns = -1;
  bool later = false;  ///< not known yet: the memory calls answer() later
  ServiceBound bound = ServiceBound::memory;
  double overhead_ns = 0, queue_ns = 0, drain_ns = 0;
};

/// Properties of a mode's times beyond the formulas of the rules; for checks.
struct LinkLaws {
  bool reads_take_what_writes_take = true;  ///< at zero load, over links that are symmetric
  bool streams_share_evenly = false;        ///< for streams that merge
  bool isolated_messages_never_wait = true;
};

class LinkMode {
 public:
  explicit LinkMode(Fabric& fabric) : fabric_(fabric) {}
  virtual ~LinkMode() = default;

  /// A transaction that is granted now leaves its initiator overhead_ns later.
  virtual void start(FabricTransaction&) = 0;
  /// A request has arrived by `in` at a block that passes it on; its header is there at x.time_ns.
  virtual tlm::tlm_sync_enum request_at_router(FabricTransaction&, Router&, FabricPort& in, tlm::tlm_phase&,
                                               sc_core::sc_time& delay) = 0;
  /// A request has arrived at its memory.
  virtual tlm::tlm_sync_enum request_at_memory(FabricTransaction&, MemoryTarget&, FabricPort& in, tlm::tlm_phase&,
                                               sc_core::sc_time& delay) = 0;
  /// A response has returned to a router or its initiator, over the port by which the request left.
  virtual tlm::tlm_sync_enum response_at(FabricTransaction&, FabricPort& out, tlm::tlm_phase&) = 0;
  /// A posted message (in flit mode: one of its flits) has arrived by `in` at its destination. True: it is complete,
  /// with its header (flits: its last one) at x.time_ns.
  virtual bool message_comes(FabricTransaction&, FabricPort& in) = 0;
  /// Whether an arrival is a header, with data after it (a server at the end of a posted message is held for the data),
  /// or a complete message.
  virtual bool data_follow_header() const = 0;
  /// Time of a posted message's data after its header, ns.
  virtual double message_drain_ns(const Route&, uint64_t nbytes) const = 0;
  /// Order of a message that arrives by `in` at x.time_ns, among arrivals of one instant at an ordered server.
  Order arrival_order(const FabricTransaction&, const FabricPort& in, const void* server) const;
  /// Reports the service of a memory that could not state it immediately.
  virtual void answer(FabricTransaction&, MemoryTarget&, const Service&) = 0;
  /// Before such an answer, for a read: all bytes before `nbytes` are available at t_ns, not before the present. Flits
  /// do not wait for later ones; a header waits.
  virtual void data_came(FabricTransaction&, uint64_t /*nbytes*/, double /*t_ns*/) {}
  /// A request or a response has left the foreign block at `port` at x.time_ns, which is now. It takes the link from
  /// there and continues.
  virtual void came_in(FabricTransaction&, FabricPort& port, bool response) = 0;
  /// A later flit of a message has passed the foreign block at `port`.
  virtual void flit_came_in(Flit&, FabricPort&) {}
  /// Completes the latency breakdown of a finished transaction, if it is not kept hop by hop.
  virtual void complete_account(FabricTransaction&) const {}

  /// Zero-load latency of a transaction on a known path (Route::known), or of a message to its end.
  ZeroLoad zero_load(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const;
  /// The latency, ns; NaN if a foreign block is on the path.
  double formula_ns(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&) const;
  /// The same without the cache, with the nodes of the path if requested.
  virtual ZeroLoad work_out(const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&,
                            std::vector<ZeroLoadHop>* hops = nullptr) const = 0;
  /// Whether links are servers with waiting messages.
  virtual bool links_serve() const { return true; }
  /// Bytes on a link of a message with this much data.
  virtual double bytes_on_link(double data_bytes) const = 0;
  virtual LinkLaws laws() const { return {}; }
  /// Whether the initiator itself counts as the sender to a memory, because links keep no order; else the last link
  /// does.
  bool initiators_send_to_memories() const { return !links_serve(); }
  /// Announces the links with their single upstream source (Link::sole_sender), before any traffic.
  virtual void senders_known(const std::vector<Link*>&) const {}
  /// The waiting messages and their reasons if traffic is blocked, one line each; those in a cycle first.
  virtual std::vector<std::string> waiting() const { return {}; }
  /// Zero-load latencies repeat with this period of the address, bytes.
  virtual uint64_t address_period() const { return 1; }

 protected:
  /// An atomic's memory has fixed its place in the order of service and finishes it at finish_ns, not before now.
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

}  // namespace kernbench::fabric

/// In the .cpp of a mode, with its LinkModeSpec (core/links.h).
#define KERNBENCH_REGISTER_LINK_MODE(spec) KERNBENCH_REGISTER_LINK_MODE_AS(spec, __COUNTER__)
#define KERNBENCH_REGISTER_LINK_MODE_AS(spec, n) KERNBENCH_REGISTER_LINK_MODE_NAMED(spec, n)
#define KERNBENCH_REGISTER_LINK_MODE_NAMED(spec, n)                         \
  namespace {                                                               \
  const ::kernbench::LinkModeRegistration link_mode_registration_##n(spec); \
  }
