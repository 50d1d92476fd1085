// What the blocks of one memory fabric share: timing modes, links, routes, and the transaction that passes through.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/core/arena.h"
#include "kernbench/systemc_models/core/timeline.h"
#include "kernbench/systemc_models/fabric/fabric_observer.h"

namespace kernbench {

enum class LinkMode : uint8_t { ideal, cut_through, flit };
enum class ResponseMode : uint8_t { ideal, routed };

/// "What left one server in an order keeps that order at the next" (timing contract §9). Kept by a link for what comes
/// out of it: of messages that become ready at one instant behind the link for the same next server, a later one is
/// never put before an earlier one, whatever their own orders say. (They need not have arrived at one instant: a
/// message's first flit waits for the node's overhead, the others do not.)
class ReadyOrder {
 public:
  /// The order of a message that comes out at arrival_ns and becomes ready at ready_ns for the server `next` (a link, a
  /// memory). Arrivals must not go back.
  Order of(const Order& own, double arrival_ns, double ready_ns, const void* next);

 private:
  struct Entry {
    uint64_t fs;
    const void* next;
    Order order;
  };
  std::vector<Entry> pending_;  ///< ready not before the last arrival, from first_ on
  size_t first_ = 0;
  uint64_t latest_fs_ = 0;
};

/// A directed edge, kept by the block it leaves from (timing contract §1, §3).
struct Link {
  double wire_ns = 0;
  double bw_gbs = 0;   ///< effective; 0: limits nothing
  double free_ns = 0;  ///< cut_through: the link takes no header before
  /// Who alone puts messages on it: the link before it, or the block it leaves (an initiator, a memory). Null if
  /// several can. What comes from one feeder comes in the order in which it left there (fabric_path.h).
  const void* feeder = nullptr;
  bool whole_trains = false;  ///< flit: the flits of one message follow each other, with no other's between
  // Statistics.
  double busy_ns = 0;
  uint64_t messages = 0;
  ReadyOrder ready_order;
  uint32_t edge = 0;  ///< index in the compiled topology
  FabricObserver* observer = nullptr;

  double transfer_ns(double nbytes) const { return bw_gbs > 0 ? nbytes / bw_gbs : 0; }
};

/// Rows of a strided access: `count` rows of `bytes`, `stride` bytes apart. One row where contiguous.
struct Rows {
  uint64_t count = 1;
  uint64_t bytes = 0;
  uint64_t stride = 0;
};

class MemoryTarget;

/// A transaction alone in an idle system (timing contract §2). ns.
struct LoneTime {
  double latency_ns = 0;        ///< from the grant to done
  double service_ns = 0;        ///< at the memory, from arrival to finish (not in flit mode)
  double store_forward_ns = 0;  ///< flit mode: waited for last flits at nodes that store and forward
};

/// The way from an initiator to a memory, resolved once.
struct Route {
  struct Hop {  // edge i: from node i to node i + 1
    Link* fwd = nullptr;
    Link* back = nullptr;            ///< the edge back; null where there is none
    uint16_t out_port = 0;           ///< of the initiator socket at node i
    uint16_t in_port = 0;            ///< of the target socket at node i + 1
    double overhead_ns = 0;          ///< of node i
    bool store_and_forward = false;  ///< node i, if it is a transit node
  };
  MemoryTarget* target = nullptr;
  uint64_t base = 0, size = 0;  ///< of the memory
  bool returns = false;         ///< every edge has an edge back
  bool stores = false;          ///< some transit node stores and forwards
  bool direct = false;  ///< only blocks of the project on the way: no need to walk their sockets (fabric_path.h)
  // Closed form (timing contract §2): sums over the path.
  double request_overhead_ns = 0;  ///< n0 … nk-1
  double request_wire_ns = 0;
  double response_wire_ns = 0;
  // Least bandwidth in the direction of the data; 0: none. `inner`: without the edge to the memory (§4).
  double read_bw = 0, write_bw = 0;
  /// Ideal links: what a header takes on its way, in the order in which it is added up: overhead and wire by hop,
  /// without the zeros. There, and (routed) back, where nothing is left out.
  std::vector<double> request_steps, response_steps;
  std::vector<Hop> hops;
  double read_inner_bw = 0, write_inner_bw = 0;
  double write_store_forward_ns_per_byte = 0;  ///< §3, transit nodes that store and forward
  double read_store_forward_ns_per_byte = 0;

  /// Lone times that have been worked out, by what they depend on: most transactions of a route are alike.
  struct Worked {
    bool write = false;
    uint64_t nbytes = 0, phase = 0;  ///< nbytes 0: none yet
    Rows rows;
    LoneTime time;
  };
  mutable std::vector<Worked> worked;
};

class FabricTransaction;

/// Moves the bytes of a foreign initiator's transaction, which this project's own do not carry (data contract §1).
class MemoryEffect {
 public:
  virtual ~MemoryEffect() = default;
  /// The memory has the request and its place in the order of service: data move at `at_ns`, not before now. That is
  /// when its overhead is over (header_leaves_ns), in flit mode when the last flit of the request is ready.
  virtual void served(FabricTransaction&, double at_ns) = 0;
  /// The payload that it serves.
  virtual tlm::tlm_generic_payload* foreign() = 0;
  /// A foreign memory answered with an error.
  virtual void failed(FabricTransaction&, tlm::tlm_response_status) = 0;
};

/// A memory transaction of the fabric: extension of a generic payload, which it stays with. It carries the route, the
/// exact time, the order among those of one instant, and the account that sums to the latency.
class FabricTransaction : public tlm::tlm_extension<FabricTransaction> {
 public:
  tlm::tlm_extension_base* clone() const override { return nullptr; }  // identity matters: never copied
  void copy_from(const tlm::tlm_extension_base&) override {}

  const Route* route = nullptr;
  class FabricInitiator* initiator = nullptr;
  void* context = nullptr;  ///< the initiator's
  double time_ns = 0;       ///< exact time of the header at `node`
  // Account, ns. Sums to done − issue.
  double issue_ns = 0, grant_ns = 0, done_ns = 0;
  double overhead_ns = 0, wire_ns = 0, drain_ns = 0, store_forward_ns = 0;
  double link_queue_ns = 0, memory_queue_ns = 0;

  uint64_t address = 0, nbytes = 0;
  double tail_ns = 0;  ///< response: from the header's arrival to done
  uint32_t node = 0;   ///< position on the route: index of the node it is at or heads for
  bool write = false;
  uint8_t channel = 0;             ///< of the initiator
  MemoryEffect* effect = nullptr;  ///< null: takes time only
  Order own_order;  ///< of arrivals at one instant: (grant, initiator, read before write, order of grants)
  Rows rows;
  tlm::tlm_generic_payload* payload = nullptr;  ///< what goes through sockets; null until it first does

  // Flit mode (flit.h): the flit that the current TLM call carries, and the others of its message.
  struct Flit* flit = nullptr;
  std::vector<struct Flit*> train;  ///< the message at its source, in order
  std::vector<struct Flit*> held;   ///< at a node that stores and forwards
  std::vector<double> ready_ns;     ///< by node of the route: when the last flit became ready there
  uint32_t flits = 0, flits_done = 0;
  uint64_t memory_arrival = 0;  ///< order of arrival at the memory
};

/// What one platform's fabric blocks have in common.
class Fabric {
 public:
  Timeline* timeline = nullptr;
  LinkMode links = LinkMode::ideal;
  ResponseMode response = ResponseMode::ideal;
  double header_bytes = 0;
  uint32_t flit_bytes = 256;
  bool direct = true;  ///< false: every transaction walks the sockets of its route; the same times, for tests

  /// A transaction from the pool.
  FabricTransaction* acquire();
  /// The transaction's payload, which has it as its extension and stays with it.
  tlm::tlm_generic_payload& payload_of(FabricTransaction&);
  void release(FabricTransaction*);
  struct Flit* acquire_flit();
  void release_flit(struct Flit*);
  /// Where the blocks and their state are.
  Arena& arena() { return arena_; }
  Fabric();
  ~Fabric();

 private:
  Arena arena_;
  std::vector<FabricTransaction*> all_;
  std::vector<FabricTransaction*> free_;
  std::vector<std::unique_ptr<struct Flit>> all_flits_;
  std::vector<struct Flit*> free_flits_;
};

/// Answers a payload that no initiator of this project sent: it has no route yet. Error response, call completed.
tlm::tlm_sync_enum refuse_foreign(tlm::tlm_generic_payload&);

/// Time at which the message of a TLM call is there: exact where the caller is one of ours, else from the delay.
double arrival_time(const Fabric&, const FabricTransaction&, const sc_core::sc_time& delay);

/// Takes the link's next place for a message of `nbytes` that is ready at `ready_ns`: FIFO, s = max(ready, free).
/// Returns the time at which the header is at the other end and books wire and wait.
double pass_link(Link&, FabricTransaction&, double ready_ns, double nbytes);

/// The transaction's times alone in an idle system.
LoneTime lone_time(const Fabric&, const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&);

/// Latency of the transaction alone in an idle system. ns.
double formula_ns(const Fabric&, const Route&, bool write, uint64_t address, uint64_t nbytes, const Rows&);

}  // namespace kernbench
