// A memory transaction on its way through the fabric: a base-protocol generic payload, and the note that this project's
// blocks attach to it.
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>
#include <typeinfo>
#include <vector>

#include "kernbench/systemc_models/core/timeline.h"
#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench {

class FabricInitiator;
class FabricPort;
class FabricTransaction;
struct Credit;
struct Flit;
struct FlitStream;
class Path;
struct Route;

/// Who moves a transaction's bytes (data contract §1): a foreign initiator's, or those of an op whose way passes a
/// foreign block. Others only take time.
class DataMover {
 public:
  virtual ~DataMover() = default;
  /// The memory has the request and its place in the order of service: data move at `at_ns`, not before now. That is
  /// when its overhead is over (header_leaves_ns), in flit mode when the last flit of the request is ready; of an
  /// atomic when it is finished.
  virtual void served(FabricTransaction&, double at_ns) = 0;
  /// The payload that it serves.
  virtual tlm::tlm_generic_payload* foreign() = 0;
  /// A foreign memory or block answered with an error.
  virtual void failed(FabricTransaction&, tlm::tlm_response_status) = 0;
  /// A foreign memory or block has moved the bytes itself, in the payload's data.
  virtual void moved_outside(FabricTransaction&) = 0;
  /// Bytes that served() has announced for now are still to be moved.
  virtual bool still_moves() const { return false; }
  /// Whether it is for an op of this project's, whose initiator tells of errors.
  virtual bool of_an_op() const { return false; }
};

/// The payload of a transaction. It says whose it is by its class, too: its list of extensions lies elsewhere in
/// memory.
class FabricPayload final : public tlm::tlm_generic_payload {
 public:
  FabricPayload(tlm::tlm_mm_interface* pool, FabricTransaction& x) : tlm_generic_payload(pool), transaction(x) {}
  FabricTransaction& transaction;
};

/// Extension of the payload that it stays with. It carries the exact time, the order among those of one instant, and
/// the account that sums to the latency. The way is noted too, but no block depends on it: who finds a transaction
/// elsewhere than its way says goes by the address.
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
  const Hop* back = nullptr;  ///< of responses: the same hops, or a way of their own (Route::own_back)
  uint32_t node = 0;          ///< position on the way: of the block that it is at or heads for
  // Account, ns. Sums to done − grant.
  double overhead_ns = 0, wire_ns = 0, drain_ns = 0, store_forward_ns = 0;
  double link_queue_ns = 0, memory_queue_ns = 0;
  double issue_ns = 0, grant_ns = 0, done_ns = 0;
  double outside_ns = 0;      ///< spent in foreign blocks
  double own_service_ns = 0;  ///< of drain_ns: what no link's bandwidth says, as its memory has served it as a whole
  double effect_ns = 0;       ///< of an atomic: when it takes effect at its memory

  const Route* route = nullptr;
  FabricInitiator* initiator = nullptr;
  void* context = nullptr;  ///< the initiator's
  uint64_t address = 0, nbytes = 0;
  uint64_t watched = 0;         ///< its number among those of its initiator that have a timeout; 0: it is done
  uint64_t memory_arrival = 0;  ///< its number at the memory; 0: it has been at none of this project
  double tail_ns = 0;           ///< response: from the header's arrival to done
  double covered_ns = 0;       ///< of the tail, what the data wait at the memory; a header's wait for links is not more
  double queued_there_ns = 0;  ///< link_queue_ns when it left the memory
  bool write = false;
  bool message = false;       ///< between PEs: posted, and ends at a block (FabricInitiator::post)
  bool rerouted = false;      ///< its hops are own_hops
  bool served_whole = false;  ///< its memory serves it as a whole, not flit by flit
  ServiceBound service_bound = ServiceBound::memory;
  uint8_t channel = 0;         ///< of the initiator
  uint32_t end = 0;            ///< message: index of the block where it ends
  DataMover* mover = nullptr;  ///< null: takes time only
  Order own_order;  ///< of arrivals at one instant: (grant, initiator, read, write, comm, credit; order of grants)
  Rows rows;
  FabricPayload payload;

  // Flit mode (flit.h): the flit that the current TLM call carries, or the first of those, and its message.
  Flit* flit = nullptr;
  uint32_t flits_together = 1;     ///< that it carries, from that one on
  const Credit* credit = nullptr;  ///< likewise a credit
  std::vector<Flit*> flits;        ///< the message at its source, in order
  std::vector<Flit*> held;         ///< at a node that stores and forwards
  std::vector<double> ready_ns;    ///< by node of the way: when the last flit became ready there
  uint32_t flit_count = 0, flits_done = 0;
  uint32_t flits_known = 0;  ///< response: those whose times are known
  uint64_t bytes_known = 0;  ///< of these; of a write that is served whole: those that are at the memory

  // Off the route, or beside blocks that are not of this project.
  std::vector<Hop> own_hops;            ///< where a router has chosen another way than the route's
  bool went_outside = false;            ///< through a foreign block, or to one
  bool moved = false;                   ///< such a block has changed its address
  const FabricPort* outside = nullptr;  ///< by which it has gone to a foreign block that has it now
  uint64_t outside_tick = 0;            ///< the kernel's, when the payload was handed to a foreign block
  std::vector<uint8_t> bytes;           ///< what the payload points to, where a foreign block may look
  std::vector<std::unique_ptr<FlitStream>> streams;

  bool has_data(bool response) const { return rows.has_data(write, response); }
  uint64_t data_bytes(bool response) const { return rows.data_bytes(write, response, nbytes); }
  bool is_atomic() const { return rows.atomic != AtomicKind::none; }
  /// Its memory is done with it: the answer is OK unless an error stands there.
  void served() {
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  /// Of its responses, among those that leave the memory at one instant.
  Order departure_order() const { return Order(Order::kDepartures, memory_arrival, 0); }
  const Hop& last_hop() const { return hops[hop_count - 1]; }
  /// The hops that it takes there, or back: path.h.
  Path path(bool response) const;
  /// By which a response leaves its memory.
  const Hop& first_back() const { return back[back_count - 1]; }
  bool returns_elsewhere() const { return back != hops; }
  /// Notes that it is at the block of `in`, number `node` of its way, or has left the one before by `out`: where the
  /// way is another than it was.
  void note_way_in(FabricPort& in) {
    if (node > 0 && hops[node - 1].in != &in) own_hop(node - 1).in = &in;
  }
  void note_way_out(FabricPort& out);
  /// It goes elsewhere from here on: a foreign block has changed the address.
  void head_for(uint64_t new_address, FabricPort& in);

 private:
  Hop& own_hop(uint32_t i);
  void take_own_hops();
};
/// "read", "write", "atomic"; of messages between PEs "message", "credit".
const char* name_of_access(const FabricTransaction&);
/// The payload as one of this project's, known by its class. Null too where another library has made it and has a
/// type_info of its own for the class: transaction_of() finds it by its extension.
inline FabricPayload* own_payload(tlm::tlm_generic_payload& p) {
  return &typeid(p) == &typeid(FabricPayload) ? &static_cast<FabricPayload&>(p) : nullptr;
}
/// The transaction that the payload carries; null: it is none of a memory transaction.
inline FabricTransaction* transaction_of(tlm::tlm_generic_payload& p) {
  FabricPayload* own = own_payload(p);
  return own ? &own->transaction : p.get_extension<FabricTransaction>();
}
/// RunError that names the transaction, for a time of it that is none.
[[noreturn]] void blame(const TimeBeyondRange&, const FabricTransaction&);

}  // namespace kernbench
