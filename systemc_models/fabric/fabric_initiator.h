// What every initiator of memory traffic does: take a transaction at its grant, send it along its route, and learn of
// its end. Used by pe_dma, m_cpu and pcie_ep; not a module.
#pragma once

#include <stdexcept>

#include "kernbench/systemc_models/core/component.h"

namespace kernbench {

/// An access that the system cannot serve: no memory there, or no way to it. One line.
class AccessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Resolves addresses; the platform's.
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  /// The route from an initiator (node index) to the memory that holds all of [address, address + nbytes).
  /// AccessError where there is none.
  virtual const Route& route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) = 0;
};

/// A request of a driver (traffic, probe, a host): waits for its initiator's channel as §2 says. One that waits may
/// stand for all that the driver has issued behind it, so that these need no request of their own until it is theirs.
struct MemoryRequest {
  bool write = false;
  uint64_t address = 0;
  uint64_t nbytes = 0;
  double issue_ns = 0;
  void (*done)(MemoryRequest&, const FabricTransaction&) = nullptr;
  void* context = nullptr;         ///< for done()
  const Rows* rows = nullptr;      ///< null: one row of nbytes
  MemoryEffect* effect = nullptr;  ///< moves its bytes; null: takes time only
  /// Called when the request need wait no longer: the one that takes its place in the line, issued since, or null.
  /// Unset: it stands for itself alone.
  MemoryRequest* (*follower)(MemoryRequest&) = nullptr;

  MemoryRequest* take_follower() { return follower ? follower(*this) : nullptr; }
};

/// An initiator that drivers can give requests to.
class RequestPort {
 public:
  virtual ~RequestPort() = default;
  /// Called at the request's issue time. The request lives until its done() is called.
  virtual void request(MemoryRequest&) = 0;
  /// The line in which reads or writes wait, 0 or 1: those of one line are granted in the order of their issue.
  virtual uint32_t line_of(bool write) const = 0;
};

class alignas(64) FabricInitiator {
 public:
  virtual ~FabricInitiator() = default;
  void connect(RouteSource& routes) { routes_ = &routes; }
  RouteSource& routes() const { return *routes_; }

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
    MemoryEffect* effect = nullptr;
  };
  explicit FabricInitiator(Component& owner) : owner_(owner) {}

 public:
  /// The header of a response is back at exactly header_ns. For fabric_path.h.
  void response_back(FabricTransaction&, double header_ns);
  /// A response's flit is back.
  void flit_back(struct Flit&);

 protected:
  /// Granted now: sends it off.
  void start(const Access&);
  /// The response's header (in flit mode: a flit of it) is back at the initiator: to be called from nb_transport_bw.
  void response_arrived(FabricTransaction&, const sc_core::sc_time& delay);
  /// Order of the transaction's end among what happens in initiators at that instant.
  virtual Order done_order(const FabricTransaction&) const = 0;
  /// Sends the payload into the first link's socket.
  virtual void send(FabricTransaction&, uint16_t port, tlm::tlm_phase phase, sc_core::sc_time& delay) = 0;
  /// The transaction is done, now; it goes back to the pool after the call.
  virtual void transaction_done(FabricTransaction&) = 0;
  /// Asks for what transaction_done() goes through, as Timeline::LookAhead does.
  virtual void look_ahead(const FabricTransaction&, bool /*nearer*/) const {}
  /// Where a channel's state is, known before its owner is in the caches.
  void set_state_of(uint8_t channel, const void* state) { states_[channel] = state; }
  const void* known_state_of(uint8_t channel) const { return states_[channel]; }

 private:
  static void ready(void* self, void* transaction);
  static void train_ready(void* self, void* transaction);
  const Route& route_of(const Access&);
  void start_ideal(FabricTransaction&);
  void start_on_links(FabricTransaction&, double now);
  void fill_payload(FabricTransaction&);
  void take_first_link(FabricTransaction&);
  void send_train(FabricTransaction&);
  void end_at(FabricTransaction&, double done_ns);
  void account_for_flits(FabricTransaction&) const;
  static void done(void* self, void* transaction);
  static void look_ahead_of_done(const void* self, const void* transaction, bool nearer);
  void leave(FabricTransaction&, double there_ns);

  Component& owner_;
  const Route* last_route_ = nullptr;
  const double* last_steps_ = nullptr;  ///< its request_steps
  const void* states_[2] = {};          ///< by channel
  uint32_t grants_ = 0;                 ///< the last key among those of one instant
  uint32_t leaving_ = 0;                ///< transactions on the timeline that are to leave
  RouteSource* routes_ = nullptr;
  ReadyOrder departures_[2];  ///< by channel
};

}  // namespace kernbench
