// SPDX-License-Identifier: Apache-2.0
// Models the common part of memories at the end of the fabric: hbm_ctrl, hbm_pc and sram. Does not model banks,
// refresh, read/write turnaround, or finite request queues. The memory image stores the bytes
// (phase2/memory/memory_image.h); transactions of the project's own initiators are timing only here.
//
// A memory states its timing once, in serve(State&, Request) of a StatefulMemory. Traffic uses the memory's state; the
// zero-load latency is serve() on an idle state. Every link mode calls serve(). With flits it is called when a request
// has arrived completely, and a read's data leave evenly from header_leaves_ns to finish_ns. hbm_ctrl, hbm_pc and sram
// themselves serve flits one by one (FlitServers). A derived class may serve differently, so serve() is called for it
// also; a class that keeps the service unchanged calls serve_flit_by_flit(). A memory that cannot state its times
// immediately (Service::later) derives from MemoryTarget and implements take(), and zero_load() if possible.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <typeinfo>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench::fabric {

struct Flit;

/// Rate at which each edge into a memory takes requests (multicast rules §21).
struct MemoryParameters : BufferParameters {
  double request_ns = 0;
  std::optional<double> read_request_ns;
  bool clear_at_reset = false;
  template <class List>
  static void describe_reset(List& list) {
    list.add(&MemoryParameters::clear_at_reset, "clear_at_reset", "",
             "a reset of its cube or device sets all written bytes to 0; false: they stay");
  }
  template <class List>
  static void describe(List& list) {
    BufferParameters::describe(list);
    describe_reset(list);
    list.add(&MemoryParameters::request_ns, "request_ns", "ns",
             "minimum interval between two requests of any size on one edge")
        .latency();
    list.add(&MemoryParameters::read_request_ns, "read_request_ns", "ns",
             "the interval before a read; default: request_ns")
        .latency();
  }
};

/// Parameters of a slice behind an hbm_ctrl.
struct HbmParameters : MemoryParameters {
  double efficiency = 1;
  template <class List>
  static void describe(List& list) {
    MemoryParameters::describe(list);
    describe_efficiency(list);
  }
  template <class List>
  static void describe_efficiency(List& list) {
    list.add(&HbmParameters::efficiency, "efficiency", "",
             "share of the bandwidth of the edges that touch the controller")
        .rate()
        .max(1);
  }
};

/// Service of a memory flit by flit (timing rules §3): FIFO servers, each flit at one of them.
class FlitServers {
 public:
  virtual ~FlitServers() = default;
  virtual size_t count() const = 0;
  virtual size_t server_of(uint64_t address) const = 0;
  /// `edge_bw_gbs`: of the edge that the data uses; 0: unlimited.
  virtual double service_ns(uint64_t address, double bytes, double edge_bw_gbs) const = 0;
  /// Maximum rate of all servers together, GB/s; 0: unlimited.
  virtual double most_gbs(double edge_bw_gbs) const = 0;
  /// Between a read and a write of one server, and back.
  virtual double turnaround_ns() const { return 0; }
};

/// Bandwidths of the edge to the memory and back; 0: unlimited.
struct EdgeBandwidths {
  double in = 0, out = 0;
};

/// Use of a server by a flit. A flit of an atomic is read and written; for a compare-and-swap the expected bytes are
/// read, the new ones written.
struct FlitUse {
  bool reads = false, writes = false;
  FlitUse(const Flit&, bool write, const Rows&, uint32_t flit_count);
};

/// A sequential server of reads and writes, with an optional turnaround time between them.
class TurningServer {
 public:
  /// Earliest start of an access that reads or writes first.
  double start_ns(bool writes, double turnaround_ns, double ready_ns) const {
    const bool turns = last_ != Last::nothing && writes != (last_ == Last::write);
    return std::max(turns ? free_ns_ + turnaround_ns : free_ns_, ready_ns);
  }
  /// Occupies the server until free_ns; its last direction is then read or write.
  void take(double free_ns, bool writes) {
    free_ns_ = free_ns;
    last_ = writes ? Last::write : Last::read;
  }
  double free_ns() const { return free_ns_; }

 private:
  enum class Last : uint8_t { nothing, read, write };
  double free_ns_ = 0;
  Last last_ = Last::nothing;
};

struct FlitService {
  double start_ns = 0, end_ns = 0;
};
/// Serves a flit. A packet's header waits for the server, but does not occupy it.
FlitService serve_flit_at(TurningServer&, const FlitServers&, const Flit&, const FlitUse&, const EdgeBandwidths&,
                          double ready_ns);

/// An access at its memory.
struct Request {
  explicit Request(const FabricTransaction& x)
      : route(*x.route),
        write(x.write),
        address(x.address),
        nbytes(x.nbytes),
        rows(x.rows),
        arrival_ns(x.time_ns),
        transaction(&x) {}
  /// An isolated access at time 0.
  Request(const Route& r, bool writes, uint64_t at, uint64_t bytes, const Rows& lies)
      : route(r), write(writes), address(at), nbytes(bytes), rows(lies) {}
  bool is_atomic() const { return rows.atomic != AtomicKind::none; }

  const Route& route;
  const bool write;
  const uint64_t address, nbytes;
  const Rows& rows;
  const double arrival_ns = 0;
  const FabricTransaction* const transaction = nullptr;  ///< null: zero load, invisible to observers
};

/// A counter that the memory maintains from the start of the simulation.
struct MemoryCounter {
  const char* name;  ///< name with unit, except for plain counts
  double value;
};

/// Part of a memory's time, by the resource that took it.
struct TimeShare {
  Resource resource = Resource::memory;
  double ns = 0;
};

class MemoryTarget : public Component, public FabricNode {
  // Before the socket, to be near the members of base classes that each transaction accesses.
  const void* sole_sender_ = nullptr;
  uint32_t requests_waiting_ = 0;   ///< requests on the timeline that will arrive
  uint32_t responses_waiting_ = 0;  ///< responses on the timeline that will leave
  uint64_t arrivals_ = 0;
  uint64_t base_ = 0;

 public:
  FabricTargetSocket in{"in", *this};

  MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config, const MemoryParameters&);
  /// With unlimited request rate.
  MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config, const BufferParameters&);
  /// With unlimited input buffers.
  MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters&);

  FabricNode* fabric_node() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  InputBuffers input_buffers() const override { return buffers_; }
  tlm::tlm_sync_enum request_in(FabricTransaction& x, FabricPort& port, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) override {
    if (x.route->target != this && x.route->known) misled(x);
    return fabric().mode().request_at_memory(x, *this, port, phase, delay);
  }
  /// First physical address of this memory.
  void set_base(uint64_t base) { base_ = base; }
  uint64_t base() const { return base_; }

  /// Period of the zero-load latency in the address, bytes, for transactions of `span` bytes at `offset` from the base.
  /// 1: independent of the address; 0: unknown.
  virtual uint64_t address_period(uint64_t /*offset*/, uint64_t /*span*/) const { return 0; }
  static constexpr uint64_t kNoPeriod = 1ull << 63;  ///< each address has its own time
  /// Service of an isolated request.
  Service at_zero_load(const Request&) const;
  /// Time of an atomic's old bytes after the header of its response; 0: they are not returned.
  double old_bytes_ns(const Route& r, const Rows& rows, uint64_t nbytes) const {
    const double bw = serves_past_its_edge() ? r.read_inner_bw : r.read_bw;
    return rows.returns_old() && bw > 0 ? static_cast<double>(nbytes) / bw : 0;
  }
  /// Whether a transaction without contention always takes the zero-load latency; false: it also depends on open rows,
  /// refresh or a clock edge.
  virtual bool zero_load_is_exact() const { return true; }
  /// The counters, always the same in the same order.
  virtual std::vector<MemoryCounter> counters() const { return {}; }
  /// Parts of a transaction's wait at a memory that schedules requests, from from_ns to to_ns. from_ns is not earlier
  /// than the transaction could begin. Time that no part covers belongs to its path. Empty: unknown, so the wait counts
  /// as the memory's overhead. Observers may call this only while the transaction is reported to them.
  virtual std::vector<TimeShare> spent(const FabricTransaction&, double /*from_ns*/, double /*to_ns*/) const {
    return {};
  }
  /// Number of servers that are reported to observers (FabricObserver::channel_taken).
  virtual size_t channels() const { return flit_servers() ? flit_servers()->count() : 1; }
  /// Null: serve() gets complete requests, with flits too.
  virtual const FlitServers* flit_servers() const { return nullptr; }
  /// Maximum rate, GB/s, for data over an edge of that bandwidth; 0: unlimited, or unknown.
  virtual double most_gbs(double edge_bw_gbs) const;
  /// Whether, in the current mode, the edge to the memory does not bound an access because its channels do.
  bool is_past_its_edge() const { return serves_past_its_edge() && fabric().mode().data_follow_header(); }
  /// The narrowest link on the path of an access's data, or the memory's rate if that is lower. GB/s; 0: unlimited.
  double narrowest_link_gbs(const Route&, bool write) const;
  double bottleneck_gbs(const Route&, bool write) const;

  /// Whether foreign initiators may get pointers to its bytes (TLM-2.0 DMI) in the memory image.
  virtual bool allows_dmi() const { return true; }

  // For energy.
  /// Bytes that it reads or writes for a transaction: more than nbytes if it moves complete bursts.
  virtual uint64_t moved_bytes(const FabricTransaction& x) const { return x.nbytes; }
  /// Number of rows opened so far; none: unknown.
  virtual std::optional<uint64_t> activates() const { return std::nullopt; }

  // For the link modes.
  /// The single upstream source of requests: a link, or with ideal links an initiator. Null if there are several.
  const void* sole_sender() const { return sole_sender_; }
  void set_sole_sender(const void* sender) {
    sole_sender_ = early_ == Early::nothing || limits_requests() ? nullptr : sender;
  }
  /// Responses leave in the order of their requests, and flits of different responses do not interleave.
  bool answers_in_order() const { return early_ == Early::all; }
  uint32_t requests_waiting() const { return requests_waiting_; }
  void request_waits() { ++requests_waiting_; }
  void request_waits_no_longer() { --requests_waiting_; }
  void response_waits() { ++responses_waiting_; }
  void response_waits_no_longer() { --responses_waiting_; }
  /// Whether a response may take its link immediately, because no earlier one can still arrive. Read headers leave a
  /// fixed time after their arrival, so none can overtake; acknowledgements may have to wait.
  bool departs_in_turn(const FabricTransaction&) const;
  bool clears_at_reset() const { return clear_at_reset_; }
  /// Whether request_ns or read_request_ns is set.
  bool limits_requests() const { return request_ns_ > 0 || read_request_ns_ > 0; }
  /// When a request that arrives at x.time_ns over its edge is taken. Call in order of arrival over each edge.
  struct Taken {
    double ns = 0;
    bool at_once = false;  ///< on arrival, and no other one of the edge at that instant waits to be served
    Order order;           ///< among those that are taken at the instant
  };
  Taken take_request(const FabricTransaction& x, double arrival_ns);
  /// Number of a transaction that arrives now; it orders departures of one instant (§9).
  uint64_t next_arrival() { return ++arrivals_; }
  /// With flits, for a write that serve() handles as a whole after its last byte: all bytes before `nbytes` have
  /// arrived by x.time_ns.
  virtual void data_comes(FabricTransaction&, uint64_t /*nbytes*/) {}
  /// Calls serve() and reports to observers; a memory that answers later reports its times one by one.
  Service begin_service(FabricTransaction&);
  using Component::begin_service;  ///< for messages in the op log
  void tell_finished(const FabricTransaction&, double finish_ns) const;
  /// Places a flit at its server; returns the end of its service.
  double serve_flit(const FabricTransaction&, const Flit&, double ready_ns);
  /// Start of serve_flit() for an access to the address that reads or writes first.
  double flit_start_ns(bool writes, uint64_t address, double ready_ns) const;

 protected:
  /// Serves a transaction that arrives now, in order of arrival.
  virtual Service take(FabricTransaction&) = 0;
  /// The same in an idle memory; by default only the path of the data takes time.
  virtual Service zero_load(const Request&) const;
  /// Called in the constructor of a class that is derived from a kernbench memory and keeps its service: with flits,
  /// flits are served one by one instead of complete requests by serve().
  void serve_flit_by_flit() { flit_by_flit_ = true; }
  /// Remaining time of the data on the path, without the edge to the memory, from the arrival of a request. With flits,
  /// a write's data have already arrived. For an atomic, the slower of both directions.
  double data_path_ns(const Request&) const;
  /// Whether data_path_ns() omits the edge to the memory because the channels bound the rate instead.
  virtual bool serves_past_its_edge() const { return false; }
  /// Whether flits are served one by one by a class that keeps the service of `Own`.
  template <class... Own>
  bool serves_flit_by_flit() const {
    return flit_by_flit_ || (... || (typeid(*this) == typeid(Own)));
  }
  /// Completes a transaction whose service was `later`. Not after header_leaves_ns.
  void answer(FabricTransaction& x, const Service&);
  /// Before that, for a read: all bytes before `nbytes` are available at t_ns, not before the present.
  void data_came(FabricTransaction& x, uint64_t nbytes, double t_ns) { fabric().mode().data_came(x, nbytes, t_ns); }
  /// What may be computed early, when the order of requests is certain. nothing: for a block that reads the timeline's
  /// time. reads: serve(), with read headers that leave a fixed time after arrival. all: serve(), with responses in the
  /// order of requests. Set by the constructor.
  enum class Early : uint8_t { nothing, reads, all };
  Early early_ = Early::nothing;

 private:
  void check(bool write, double from_ns, const Service&) const;
  static void book(FabricTransaction&, const Service&);
  [[noreturn]] void misled(const FabricTransaction&) const;

  /// The last request of an edge.
  struct Edge {
    bool any = false;
    double taken_ns = 0;
    ReadyOrder order;
  };

  const InputBuffers buffers_;
  const bool clear_at_reset_ = false;
  const double request_ns_ = 0, read_request_ns_ = 0;
  std::map<const FabricPort*, Edge> edges_;
  bool flit_by_flit_ = false;
  std::vector<TurningServer> flit_servers_;
};

/// A memory whose service depends only on its state and the request.
template <class State>
class StatefulMemory : public MemoryTarget {
 public:
  template <class Parameters>
  StatefulMemory(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters,
                 State idle = State())
      : MemoryTarget(name, config, parameters), idle_(std::move(idle)), state_(idle_) {}

 protected:
  /// The timing: when the request is served, given the state after earlier requests.
  virtual Service serve(State&, const Request&) const = 0;
  /// Called after traffic was served; for additional records in the op log.
  virtual void served(const FabricTransaction&, const Service&) {}

 private:
  Service take(FabricTransaction& x) final {
    const Service s = serve(state_, Request(x));
    served(x, s);
    return s;
  }
  Service zero_load(const Request& q) const final {
    State idle = idle_;
    return serve(idle, q);
  }
  const State idle_;
  State state_;
};

}  // namespace kernbench::fabric
