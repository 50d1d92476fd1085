// SPDX-License-Identifier: Apache-2.0
// Common part of all initiators of memory traffic: it takes a transaction at its grant, sends it along its route, and
// handles its end. Used by pe_dma, m_cpu, pcie_ep and port; not a module.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench::fabric {

/// A request of a driver (traffic, probe, a host). It waits for its initiator's channel as in §2. A waiting request may
/// represent all later requests of its driver, which then need no object of their own before their grant.
struct MemoryRequest {
  bool write = false;
  uint64_t address = 0;
  uint64_t nbytes = 0;
  double issue_ns = 0;
  void (*done)(MemoryRequest&, const FabricTransaction&) = nullptr;
  void* context = nullptr;        ///< for done()
  const Rows* rows = nullptr;     ///< null: one row of nbytes
  DataMover* mover = nullptr;     ///< moves its bytes; null: timing only
  const uint8_t* data = nullptr;  ///< of a write, for foreign observers of the payload; null: contents of memory
  const MulticastTo* multicast = nullptr;  ///< of a write: all its destinations; the first is `address`
  Reduction* reduction = nullptr;          ///< of which the request is a source; outlives the request
  const void* part_of = nullptr;           ///< for observers: the origin of several requests; null: a single request
  /// Called when the request stops waiting. Returns the request that takes its place in the line, issued since, or
  /// null. Unset: it represents only itself.
  MemoryRequest* (*next_in_line)(MemoryRequest&) = nullptr;

  MemoryRequest* take_next_in_line() { return next_in_line ? next_in_line(*this) : nullptr; }
};

/// `timeout_ns` of a block that issues accesses.
template <class List, class P>
void describe_timeout(List& list, double P::*member) {
  list.add(member, "timeout_ns", "ns",
           "timeout: an error that names the access without a response this long after its grant; 0: no timeout")
      .min(0);
}

/// An initiator that accepts requests of drivers.
class RequestPort {
 public:
  virtual ~RequestPort() = default;
  /// Called at the request's issue time. The request lives until its done() is called.
  virtual void request(MemoryRequest&) = 0;
  /// The line in which reads or writes (atomics too) wait, 0 or 1. Requests of one line are granted in order of issue.
  virtual uint32_t line_of(bool write) const = 0;
  static constexpr uint32_t kMostLines = 2;
};

/// The base protocol has no atomics.
inline tlm::tlm_command command_of(bool write, const Rows* rows) {
  if (rows && rows->atomic != AtomicKind::none) return tlm::TLM_IGNORE_COMMAND;
  return write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
}

/// Fills a payload for an access. Project blocks do not read the data, so the pointer is null unless the data belong to
/// a foreign initiator or are `data`.
void fill_payload(tlm::tlm_generic_payload&, tlm::tlm_command, uint64_t address, uint64_t nbytes, const uint8_t* data,
                  DataMover*);

class FabricInitiator {
 public:
  virtual ~FabricInitiator() = default;
  Component& owner() const { return owner_; }
  FabricNode& node() const { return node_; }
  /// Channels of messages between PEs (collectives rules §10.8, §10.11). In the order of §9 they come after reads and
  /// writes.
  static constexpr uint8_t kComm = 2, kCredit = 3;

  // For the link modes.
  /// The response's header is back at x.time_ns.
  void response_back(FabricTransaction&);
  /// The response's last flit is back and ready, at done_ns.
  void end_at(FabricTransaction&, double done_ns);
  /// A posted message has left; its source is free at free_ns, not before now.
  virtual void message_left(FabricTransaction&, double /*free_ns*/) {}
  /// An atomic takes effect at x.effect_ns, not before now. Called when its memory has fixed its place in the order.
  virtual void effect_known(FabricTransaction&) {}
  /// The known bytes of a message, for foreign observers of the payload; other bytes of `out` stay unchanged.
  virtual void message_bytes(const FabricTransaction&, uint8_t* /*out*/) const {}
  /// For observers: op-log id of the transaction's op, and its driver request; 0 and null: none.
  virtual uint64_t op_id_of(const FabricTransaction&) const { return 0; }
  virtual const MemoryRequest* request_of(const FabricTransaction&) const { return nullptr; }
  /// The order of a transaction that waits for `first`, its first link.
  Order departure_order(FabricTransaction&, const Link* first);
  /// RunError: the transaction needs a time beyond the legal range.
  [[noreturn]] void time_fault(const FabricTransaction&, const TimeBeyondRange&) const;

 protected:
  struct Access {
    bool write = false;
    uint64_t address = 0;
    uint64_t nbytes = 0;
    Rows rows;
    double issue_ns = 0;
    uint8_t channel = 0;  ///< 0 or 1: selects one of the initiator's servers; reads and writes may share one
    void* context = nullptr;
    uint64_t span = 0;  ///< bytes from the address that the memory must contain; 0: nbytes
    DataMover* mover = nullptr;
    const uint8_t* data = nullptr;  ///< data of the MemoryRequest
    const MulticastTo* multicast = nullptr;
    Reduction* reduction = nullptr;
  };
  /// `nbytes` from offset 0 of its place, to the block `end`; posted.
  struct Message {
    const Route* route = nullptr;
    uint32_t end = 0;
    uint64_t nbytes = 0;
    uint8_t channel = kComm;
    void* context = nullptr;
  };
  /// `timeout_ns`: RunError for an access without a response this long after its grant; 0: no timeout.
  explicit FabricInitiator(FabricNode& node, double timeout_ns = 0)
      : node_(node), owner_(node.owner()), timeout_ns_(timeout_ns) {}
  /// The op of the transaction, for error messages: "dma_read at gemm.cpp:42"; empty: none.
  virtual std::string op_of(const FabricTransaction&) const { return {}; }
  /// Sends off a transaction that is granted now.
  void start(const Access&);
  void post(const Message&);
  /// One message to several blocks: a multicast.
  void post(const std::vector<Message>&);
  /// Order of the transaction's end among events of initiators at that instant.
  virtual Order done_order(const FabricTransaction&) const = 0;
  /// A foreign memory or block has answered with an error, and the transaction has no mover to report it. Called before
  /// transaction_done. `why`: one line with initiator, memory and address. Default: a SystemC error of type
  /// "/kernbench/tlm".
  virtual void transaction_failed(FabricTransaction&, const std::string& why);
  /// The transaction is done, now; it returns to the pool after the call.
  virtual void transaction_done(FabricTransaction&) = 0;

 private:
  struct Watched {
    const FabricTransaction* transaction;
    uint64_t number;
    double until_ns;
  };
  /// The transaction has ended if another access reuses it.
  bool ended(const Watched& w) const { return w.transaction->watched != w.number || w.transaction->initiator != this; }
  void watch(FabricTransaction&);
  void time_out();
  [[noreturn]] void not_answered(const FabricTransaction&) const;
  std::string text_of(const FabricTransaction&) const;
  const Route& route_of(const Access&);
  FabricTransaction& acquire(const Route&, uint8_t channel, uint64_t rank);
  void fill(FabricTransaction&, const Access&);
  void send(FabricTransaction&, const Access&);
  void start_multicast(const Access&);
  void send(Multicast&);
  FabricTransaction& acquire(const Message&, Access&);
  void done(FabricTransaction&);
  std::string answered_with_error(const FabricTransaction&) const;

  // Members that each transaction accesses come first.
  FabricNode& node_;
  Component& owner_;
  const double timeout_ns_;
  const Route* last_route_ = nullptr;
  uint32_t grants_ = 0;       ///< the last key among those of one instant
  ReadyOrder departures_[4];  ///< by channel
  uint64_t watched_so_far_ = 0;
  std::deque<Watched> watched_;  ///< in order of grants
};

}  // namespace kernbench::fabric
