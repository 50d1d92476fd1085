// SPDX-License-Identifier: Apache-2.0
// A memory transaction in the fabric: a base-protocol generic payload with the extension of this project's blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>
#include <typeinfo>
#include <vector>

#include "kernbench/systemc_models/core/timeline.h"
#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench::fabric {

class FabricInitiator;
class FabricPort;
class FabricTransaction;
class Multicast;
struct Credit;
struct Flit;
struct FlitStream;
class Path;
class Reduction;
struct Route;

/// Moves the bytes of a transaction (data rules §1): for foreign initiators, and for ops whose path passes a foreign
/// block. Other transactions are timing only.
class DataMover {
 public:
  virtual ~DataMover() = default;
  /// The memory has the request and has fixed its place in the order of service. Data move at `at_ns`, not before now:
  /// after its overhead (header_leaves_ns); in flit mode when the last flit of the request is ready; for an atomic when
  /// it is finished.
  virtual void served(FabricTransaction&, double at_ns) = 0;
  /// The payload that the mover serves.
  virtual tlm::tlm_generic_payload* foreign() = 0;
  /// A foreign memory or block answered with an error.
  virtual void failed(FabricTransaction&, tlm::tlm_response_status) = 0;
  /// A foreign memory or block has moved the bytes itself, into or out of the payload's data.
  virtual void moved_outside(FabricTransaction&) = 0;
  /// Whether bytes announced by served() for now are still to be moved.
  virtual bool still_moves() const { return false; }
  /// Whether it belongs to an op of this project, whose initiator reports errors.
  virtual bool of_an_op() const { return false; }
};

/// The payload of a transaction. Its class identifies it without access to its list of extensions, which is elsewhere
/// in memory.
class FabricPayload final : public tlm::tlm_generic_payload {
 public:
  FabricPayload(tlm::tlm_mm_interface* pool, FabricTransaction& x) : tlm_generic_payload(pool), transaction(x) {}
  FabricTransaction& transaction;
};

/// Extension of its payload, for the payload's lifetime. It carries the exact time, the order within an instant, and
/// the latency breakdown, which sums to the latency. It also records the route, but no block depends on it: a block
/// that finds a transaction off its route uses the address.
class FabricTransaction : public tlm::tlm_extension<FabricTransaction> {
 public:
  explicit FabricTransaction(tlm::tlm_mm_interface* pool);
  ~FabricTransaction() override;
  tlm::tlm_extension_base* clone() const override { return nullptr; }  // identity matters: never copied
  void copy_from(const tlm::tlm_extension_base&) override {}

  double time_ns = 0;  ///< exact time of the header at `node`
  const Hop* hops = nullptr;
  uint32_t hop_count = 0;
  uint32_t back_count = 0;
  const Hop* back = nullptr;  ///< of responses: the same hops, or a separate path (Route::own_back)
  uint32_t node = 0;          ///< position on the route: the block where it is or goes
  /// By direction (response): nodes of its route from which it travels itself. Before and behind, another transaction
  /// of its multicast or reduction carries it.
  uint32_t carries_from[2] = {0, 0}, carries_to[2] = {~0u, ~0u};
  // Latency breakdown, ns. Sums to done − grant.
  double overhead_ns = 0, wire_ns = 0, drain_ns = 0, store_forward_ns = 0;
  double link_queue_ns = 0, memory_queue_ns = 0;
  double issue_ns = 0, grant_ns = 0, done_ns = 0;
  double outside_ns = 0;      ///< spent in foreign blocks
  double own_service_ns = 0;  ///< part of drain_ns that no link's bandwidth explains, for service as a whole
  double effect_ns = 0;       ///< of an atomic: effect at its memory

  const Route* route = nullptr;
  FabricInitiator* initiator = nullptr;
  std::shared_ptr<Multicast> multicast;  ///< of which it serves one destination (multicast.h); null: none
  Reduction* reduction = nullptr;        ///< of which it serves one source (reduction.h); null: none
  double most_gbs = 0;                   ///< of a sum: its maximum rate on the next link; 0: unlimited
  void* context = nullptr;               ///< the initiator's
  uint64_t address = 0, nbytes = 0;
  uint64_t watched = 0;         ///< number among the initiator's accesses with timeout; 0: done
  uint64_t memory_arrival = 0;  ///< number at the memory; 0: no memory of this project
  double tail_ns = 0;           ///< response: from the arrival of the header to done
  double covered_ns =
      0;  ///< part of the tail in which data wait at the memory; a wait of the header for links up to this is hidden
  double queued_there_ns = 0;  ///< link_queue_ns at departure from the memory
  bool write = false;
  bool message = false;       ///< between PEs: posted, ends at a block (FabricInitiator::post)
  bool rerouted = false;      ///< its hops are own_hops
  bool served_whole = false;  ///< served by its memory as a whole, not flit by flit
  ServiceBound service_bound = ServiceBound::memory;
  uint8_t channel = 0;         ///< of the initiator
  uint32_t end = 0;            ///< message: index of the destination block
  DataMover* mover = nullptr;  ///< null: timing only
  Order
      own_order;  ///< order of arrivals at one instant: (grant, initiator, read, write, comm, credit; order of grants)
  Rows rows;
  FabricPayload payload;

  // Flit mode (flit.h): the flit of the current TLM call, or the first of several, and its message.
  Flit* flit = nullptr;
  uint32_t flits_together = 1;     ///< number of flits in the call
  const Credit* credit = nullptr;  ///< a credit in the call
  std::vector<Flit*> flits;        ///< the message at its source, in order
  std::vector<Flit*> held;         ///< at a store-and-forward node
  std::vector<double> ready_ns;    ///< by node of the route: when the last flit became ready there
  uint32_t flit_count = 0, flits_done = 0;
  uint32_t flits_known = 0;  ///< response: flits with known times
  uint64_t bytes_known = 0;  ///< bytes of these; for a write that is served whole: bytes at the memory

  // Off the route, or beside foreign blocks.
  std::vector<Hop> own_hops;            ///< path chosen by a router instead of the route
  bool went_outside = false;            ///< through a foreign block, or to one
  bool moved = false;                   ///< a foreign block has changed its address
  const FabricPort* outside = nullptr;  ///< port to the foreign block that has it now
  uint64_t outside_tick = 0;            ///< kernel tick at which the payload was handed to a foreign block
  std::vector<uint8_t> bytes;           ///< data of the payload where a foreign block may read it
  std::vector<std::unique_ptr<FlitStream>> streams;

  /// Whether it takes the hop of node `number` itself, and no other transaction carries it.
  bool carries(bool response, uint32_t number) const {
    return number >= carries_from[response] && number < carries_to[response];
  }
  /// Whether its own request reaches the memory. False if another transaction carries its sum there.
  bool comes_to_memory() const { return hop_count == 0 || carries(false, hop_count - 1); }
  bool has_data(bool response) const { return rows.has_data(write, response); }
  uint64_t data_bytes(bool response) const { return rows.data_bytes(write, response, nbytes); }
  bool is_atomic() const { return rows.atomic != AtomicKind::none; }
  /// Its memory has finished it: the response is OK unless an error is set.
  void served() {
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  /// Order of its response among those that leave the memory at one instant.
  Order departure_order() const { return Order(Order::kDepartures, memory_arrival, 0); }
  const Hop& last_hop() const { return hops[hop_count - 1]; }
  /// The hops of the request, or of the response: path.h.
  Path path(bool response) const;
  /// First hop of the response from its memory.
  const Hop& first_back() const { return back[back_count - 1]; }
  bool returns_elsewhere() const { return back != hops; }
  /// Records that it is at the block of `in`, node `number` of its route, or has left the previous one by `out`, if the
  /// path differs from the route.
  void note_way_in(FabricPort& in) {
    if (node > 0 && hops[node - 1].in != &in) own_hop(node - 1).in = &in;
  }
  void note_way_out(FabricPort& out);
  /// Its destination changes: a foreign block has changed the address.
  void head_for(uint64_t new_address, FabricPort& in);

 private:
  Hop& own_hop(uint32_t i);
  void take_own_hops();
};
/// "read", "write", "atomic"; for messages between PEs "message", "credit".
const char* name_of_access(const FabricTransaction&);
/// The payload as one of this project, by its class. Null also if another library with its own type_info created it;
/// transaction_of() finds it by its extension.
inline FabricPayload* own_payload(tlm::tlm_generic_payload& p) {
  return &typeid(p) == &typeid(FabricPayload) ? &static_cast<FabricPayload&>(p) : nullptr;
}
/// The transaction of the payload; null if it has none.
inline FabricTransaction* transaction_of(tlm::tlm_generic_payload& p) {
  FabricPayload* own = own_payload(p);
  return own ? &own->transaction : p.get_extension<FabricTransaction>();
}
/// RunError that names the transaction, for an illegal time.
[[noreturn]] void blame(const TimeBeyondRange&, const FabricTransaction&);

}  // namespace kernbench::fabric
