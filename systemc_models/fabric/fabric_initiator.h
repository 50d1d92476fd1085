// What every initiator of memory traffic does: take a transaction at its grant, send it along its route, and learn of
// its end. Used by pe_dma, m_cpu, pcie_ep and port; not a module.
#pragma once

#include <deque>

#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench {

/// A request of a driver (traffic, probe, a host): waits for its initiator's channel as §2 says. One that waits may
/// stand for all that the driver has issued behind it, so that these need no request of their own until it is theirs.
struct MemoryRequest {
  bool write = false;
  uint64_t address = 0;
  uint64_t nbytes = 0;
  double issue_ns = 0;
  void (*done)(MemoryRequest&, const FabricTransaction&) = nullptr;
  void* context = nullptr;        ///< for done()
  const Rows* rows = nullptr;     ///< null: one row of nbytes
  DataMover* mover = nullptr;     ///< moves its bytes; null: takes time only
  const uint8_t* data = nullptr;  ///< a write's, for who looks at the payload outside; null: what memory holds
  const void* part_of = nullptr;  ///< for who observes: what several requests are issued for; null: it stands alone
  /// Called when the request need wait no longer: the one that takes its place in the line, issued since, or null.
  /// Unset: it stands for itself alone.
  MemoryRequest* (*next_in_line)(MemoryRequest&) = nullptr;

  MemoryRequest* take_next_in_line() { return next_in_line ? next_in_line(*this) : nullptr; }
};

/// `timeout_ns` of a block that issues accesses.
template <class List, class P>
void describe_timeout(List& list, double P::*member) {
  list.add(member, "timeout_ns", "ns",
           "a fault that names the access which is not answered so long after it was granted; 0: none")
      .min(0);
}

/// An initiator that drivers can give requests to.
class RequestPort {
 public:
  virtual ~RequestPort() = default;
  /// Called at the request's issue time. The request lives until its done() is called.
  virtual void request(MemoryRequest&) = 0;
  /// The line in which reads or writes (atomics too) wait: those of one line are granted in the order of their issue.
  virtual uint32_t line_of(bool write) const = 0;
  static constexpr uint32_t kMostLines = 2;
};

/// An atomic is none of the base protocol.
inline tlm::tlm_command command_of(bool write, const Rows* rows) {
  if (rows && rows->atomic != AtomicKind::none) return tlm::TLM_IGNORE_COMMAND;
  return write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
}
/// Makes a payload that of an access. Beside blocks of this project nobody looks at the data, so the pointer is null
/// but where they are a foreign initiator's or `data`.
void fill_payload(tlm::tlm_generic_payload&, tlm::tlm_command, uint64_t address, uint64_t nbytes, const uint8_t* data,
                  DataMover*);

class FabricInitiator {
 public:
  virtual ~FabricInitiator() = default;
  Component& owner() const { return owner_; }
  FabricNode& node() const { return node_; }
  /// Channels of messages between PEs (collectives contract §10.8, §10.11): what they are in the order of §9, behind
  /// reads and writes.
  static constexpr uint8_t kComm = 2, kCredit = 3;

  // For the link modes.
  /// The response's header is back at x.time_ns.
  void response_back(FabricTransaction&);
  /// The response's last flit is back and ready, at done_ns.
  void end_at(FabricTransaction&, double done_ns);
  /// A posted message is on its way; its source is free at free_ns, not before now.
  virtual void message_left(FabricTransaction&, double /*free_ns*/) {}
  /// An atomic takes effect at x.effect_ns, not before now: known as soon as its memory has its place in the order.
  virtual void effect_known(FabricTransaction&) {}
  /// Its bytes, as far as they are known, for who looks at the payload outside; others of `out` stay as they are.
  virtual void message_bytes(const FabricTransaction&, uint8_t* /*out*/) const {}
  /// For who observes: the op log's id of the op that it is for, and the driver's request that it is; 0 and null: none.
  virtual uint64_t op_id_of(const FabricTransaction&) const { return 0; }
  virtual const MemoryRequest* request_of(const FabricTransaction&) const { return nullptr; }
  /// The order of a transaction that waits for its turn at `first`, the link that it leaves by.
  Order departure_order(FabricTransaction&, const Link* first);
  /// RunError: the transaction would need a time that there is none.
  [[noreturn]] void time_fault(const FabricTransaction&, const TimeBeyondRange&) const;

 protected:
  struct Access {
    bool write = false;
    uint64_t address = 0;
    uint64_t nbytes = 0;
    Rows rows;
    double issue_ns = 0;
    uint8_t channel = 0;  ///< 0 or 1: which of the initiator's servers; reads and writes may share one
    void* context = nullptr;
    uint64_t span = 0;  ///< bytes from the address that the memory must hold; 0: nbytes
    DataMover* mover = nullptr;
    const uint8_t* data = nullptr;  ///< MemoryRequest's
  };
  /// Of `nbytes` from offset 0 of its place, to the block `end`; posted.
  struct Message {
    const Route* route = nullptr;
    uint32_t end = 0;
    uint64_t nbytes = 0;
    uint8_t channel = kComm;
    void* context = nullptr;
  };
  /// `timeout_ns`: RunError for an access that is not answered so long after its grant; 0: it may take any time.
  explicit FabricInitiator(FabricNode& node, double timeout_ns = 0)
      : node_(node), owner_(node.owner()), timeout_ns_(timeout_ns) {}
  /// The op that the transaction is for, for messages: "dma_read at gemm.cpp:42"; empty: it is for none.
  virtual std::string op_of(const FabricTransaction&) const { return {}; }
  /// Granted now: sends it off.
  void start(const Access&);
  void post(const Message&);
  /// Order of the transaction's end among what happens in initiators at that instant.
  virtual Order done_order(const FabricTransaction&) const = 0;
  /// A foreign memory or block has answered with an error, of which nobody else knows (it has no mover); told before
  /// transaction_done. `why`: one line that names initiator, memory and address. By default a SystemC error of type
  /// "/kernbench/tlm".
  virtual void transaction_failed(FabricTransaction&, const std::string& why);
  /// The transaction is done, now; it goes back to the pool after the call.
  virtual void transaction_done(FabricTransaction&) = 0;

 private:
  struct Watched {
    const FabricTransaction* transaction;
    uint64_t number;
    double until_ns;
  };
  /// A transaction that is another's by now has ended.
  bool ended(const Watched& w) const { return w.transaction->watched != w.number || w.transaction->initiator != this; }
  void watch(FabricTransaction&);
  void time_out();
  [[noreturn]] void not_answered(const FabricTransaction&) const;
  std::string text_of(const FabricTransaction&) const;
  const Route& route_of(const Access&);
  FabricTransaction& acquire(const Route&, uint8_t channel, uint64_t rank);
  void send(FabricTransaction&, const Access&);
  void done(FabricTransaction&);
  std::string answered_with_error(const FabricTransaction&) const;

  // What every transaction touches comes first.
  FabricNode& node_;
  Component& owner_;
  const double timeout_ns_;
  const Route* last_route_ = nullptr;
  uint32_t grants_ = 0;       ///< the last key among those of one instant
  ReadyOrder departures_[4];  ///< by channel
  uint64_t watched_so_far_ = 0;
  std::deque<Watched> watched_;  ///< in the order of their grants
};

}  // namespace kernbench
