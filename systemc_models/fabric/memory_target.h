// Models: a memory at the end of the fabric; what hbm_ctrl, hbm_pc and sram have in common.
// Does not model: banks, refresh, read/write turn-round, finite request queues. Bytes are the memory image's
// (phase2/memory/memory_image.h); the transactions of this project's own initiators only take time here.
//
// A memory states its law once, in serve(State&, Request) of a StatefulMemory. Traffic is served on the memory's state,
// zero-load latency is serve() on an idle state. Every link mode calls it. With flits it is called when all of a
// request's are there, and a read's data leave evenly from header_leaves_ns to finish_ns. hbm_ctrl, hbm_pc and sram
// themselves serve flits one by one (FlitServers). A class derived from them may serve in another way, so serve() is
// called for it too; one that leaves the service as it is declares that by serve_flit_by_flit(). A memory that cannot
// tell its times at once (Service::later) derives from MemoryTarget: take(), and zero_load() if it can state that.
#pragma once

#include <algorithm>
#include <optional>
#include <typeinfo>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench {

struct Flit;

/// Of a slice behind an hbm_ctrl.
struct HbmParameters : BufferParameters {
  double efficiency = 1;
  template <class List>
  static void describe(List& list) {
    BufferParameters::describe(list);
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

/// How a memory serves flits one by one (timing contract §3): FIFO servers, each flit at one of them.
class FlitServers {
 public:
  virtual ~FlitServers() = default;
  virtual size_t count() const = 0;
  virtual size_t server_of(uint64_t address) const = 0;
  /// `edge_bw_gbs`: of the edge that the data uses; 0: no limit.
  virtual double service_ns(uint64_t address, double bytes, double edge_bw_gbs) const = 0;
  /// What all servers can serve at most together, GB/s; 0: no limit.
  virtual double most_gbs(double edge_bw_gbs) const = 0;
  /// Between a read and a write of one server, and the other way round.
  virtual double turnaround_ns() const { return 0; }
};

/// Of the edge to the memory, there and back; 0: no limit.
struct EdgeBandwidths {
  double in = 0, out = 0;
};

/// What a server does for a flit. An atomic's is read and written; of a compare-and-swap the expected bytes are read,
/// the new ones written.
struct FlitUse {
  bool reads = false, writes = false;
  FlitUse(const Flit&, bool write, const Rows&, uint32_t flit_count);
};

/// A server of reads and writes, one after the other, which may take time to turn round between them.
class TurningServer {
 public:
  /// When it can begin with an access that reads or writes first.
  double start_ns(bool writes, double turnaround_ns, double ready_ns) const {
    const bool turns = last_ != Last::nothing && writes != (last_ == Last::write);
    return std::max(turns ? free_ns_ + turnaround_ns : free_ns_, ready_ns);
  }
  /// It is taken until free_ns, and has then read or written.
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
/// Serves a flit. A packet's header waits for the server, and takes nothing of it.
FlitService serve_flit_at(TurningServer&, const FlitServers&, const Flit&, const FlitUse&, const EdgeBandwidths&,
                          double ready_ns);

/// An access as it comes to its memory.
struct Request {
  explicit Request(const FabricTransaction& x)
      : route(*x.route),
        write(x.write),
        address(x.address),
        nbytes(x.nbytes),
        rows(x.rows),
        arrival_ns(x.time_ns),
        transaction(&x) {}
  /// At zero load, at time 0.
  Request(const Route& r, bool writes, uint64_t at, uint64_t bytes, const Rows& lies)
      : route(r), write(writes), address(at), nbytes(bytes), rows(lies) {}
  bool is_atomic() const { return rows.atomic != AtomicKind::none; }

  const Route& route;
  const bool write;
  const uint64_t address, nbytes;
  const Rows& rows;
  const double arrival_ns = 0;
  const FabricTransaction* const transaction = nullptr;  ///< null: zero load, which observers do not see
};

/// What a memory counts by itself, from the start of the simulation on.
struct MemoryCounter {
  const char* name;  ///< with its unit, but for what is counted
  double value;
};

class MemoryTarget : public Component, public FabricNode {
  // Before the socket, so that it is beside what the base classes have for every transaction.
  const void* sole_sender_ = nullptr;
  uint32_t requests_waiting_ = 0;   ///< on the timeline, to arrive
  uint32_t responses_waiting_ = 0;  ///< on the timeline, to leave
  uint64_t arrivals_ = 0;
  uint64_t base_ = 0;

 public:
  FabricTargetSocket in{"in", *this};

  MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config, const BufferParameters&);
  /// With inputs that take what comes.
  MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters&);

  FabricNode* fabric_node() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  InputBuffers input_buffers() const override { return buffers_; }
  tlm::tlm_sync_enum request_in(FabricTransaction& x, FabricPort& port, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) override {
    if (x.route->target != this && x.route->known) misled(x);
    return fabric().mode().request_at_memory(x, *this, port, phase, delay);
  }
  /// First physical address that this memory serves.
  void set_base(uint64_t base) { base_ = base; }
  uint64_t base() const { return base_; }

  /// Bytes after which zero-load times repeat, of transactions at `offset` from the base and `span` bytes long; 1:
  /// they do not depend on the address; 0: not known.
  virtual uint64_t address_period(uint64_t /*offset*/, uint64_t /*span*/) const { return 0; }
  static constexpr uint64_t kNoPeriod = 1ull << 63;  ///< each address has a time of its own
  /// The service of a request at zero load.
  Service at_zero_load(const Request&) const;
  /// What the old bytes of an atomic take behind the header of its response; 0: they do not come back.
  double old_bytes_ns(const Route& r, const Rows& rows, uint64_t nbytes) const {
    const double bw = serves_past_its_edge() ? r.read_inner_bw : r.read_bw;
    return rows.returns_old() && bw > 0 ? static_cast<double>(nbytes) / bw : 0;
  }
  /// Whether a transaction that nobody delays takes the zero-load time whatever came before it; false: also rows that
  /// are open, a refresh or a clock edge decide.
  virtual bool zero_load_is_exact() const { return true; }
  /// Always the same ones in the same order.
  virtual std::vector<MemoryCounter> counters() const { return {}; }
  /// How many servers observers are told of (FabricObserver::channel_taken).
  virtual size_t channels() const { return flit_servers() ? flit_servers()->count() : 1; }
  /// Null: whole requests are given to serve(), with flits too.
  virtual const FlitServers* flit_servers() const { return nullptr; }
  /// What it can serve at most, GB/s, of data that come or go by an edge of that bandwidth; 0: no limit, or not known.
  virtual double most_gbs(double edge_bw_gbs) const;
  /// In the mode that runs: the edge to it does not bound an access, for whose data the channels behind count instead.
  bool is_past_its_edge() const { return serves_past_its_edge() && fabric().mode().data_follow_header(); }
  /// The narrowest link that bounds an access's data; that, or what the memory can serve, if that is less. GB/s; 0: no
  /// limit.
  double narrowest_link_gbs(const Route&, bool write) const;
  double bottleneck_gbs(const Route&, bool write) const;

  /// Whether foreign initiators may reach its bytes by pointers (TLM-2.0 DMI): those of the memory image.
  virtual bool allows_dmi() const { return true; }

  // For the energy of a run.
  /// Bytes that it reads or writes for a transaction: more than its nbytes where it moves whole bursts.
  virtual uint64_t moved_bytes(const FabricTransaction& x) const { return x.nbytes; }
  /// Rows that it has opened so far; none: it does not say.
  virtual std::optional<uint64_t> activates() const { return std::nullopt; }

  // For the link modes.
  /// Who alone sends requests here: a link, or, with ideal links, an initiator. Null if several can.
  const void* sole_sender() const { return sole_sender_; }
  void set_sole_sender(const void* sender) { sole_sender_ = early_ == Early::nothing ? nullptr : sender; }
  /// Responses leave in the order of their requests: the flits of one with no other's between.
  bool answers_in_order() const { return early_ == Early::all; }
  uint32_t requests_waiting() const { return requests_waiting_; }
  void request_waits() { ++requests_waiting_; }
  void request_waits_no_longer() { --requests_waiting_; }
  void response_waits() { ++responses_waiting_; }
  void response_waits_no_longer() { --responses_waiting_; }
  /// Whether a response may take its link at once: none that leaves before can still come. Read headers leave a fixed
  /// time after their arrival, so none can overtake; acknowledgements may have to wait.
  bool departs_in_turn(const FabricTransaction&) const;
  /// The number of a transaction that arrives now: what leaves at one instant leaves in that order (§9).
  uint64_t next_arrival() { return ++arrivals_; }
  /// With flits, of a write that serve() will be asked for as a whole when its last byte is there: all before `nbytes`
  /// have come by x.time_ns.
  virtual void data_comes(FabricTransaction&, uint64_t /*nbytes*/) {}
  /// serve(), and its observer told: with the times as they are, for a memory that answers later knows them one by one.
  Service begin_service(FabricTransaction&);
  using Component::begin_service;  ///< of messages for the op log
  void tell_finished(const FabricTransaction&, double finish_ns) const;
  /// A flit's place at its server; when it is served.
  double serve_flit(const FabricTransaction&, const Flit&, double ready_ns);
  /// When serve_flit() would begin with an access to the address that reads or writes first.
  double flit_start_ns(bool writes, uint64_t address, double ready_ns) const;

 protected:
  /// Serves a transaction that arrives now, in order of arrival.
  virtual Service take(FabricTransaction&) = 0;
  /// The same in an idle memory; by default as if only the path of the data took time.
  virtual Service zero_load(const Request&) const;
  /// Said in the constructor of a class that is derived from one of kernbench's own and leaves its service as it is:
  /// with flits that serves them one by one, instead of serve() whole requests.
  void serve_flit_by_flit() { flit_by_flit_ = true; }
  /// What its data still take over the way, but for the edge to the memory, from when a request is there: with flits a
  /// write's have come. Of an atomic the slower one of both directions.
  double data_path_ns(const Request&) const;
  /// Whether what its data take over the way leaves out the edge to it: the channels behind count instead.
  virtual bool serves_past_its_edge() const { return false; }
  /// Whether flits are served one by one by a class whose own service is that of `Own`.
  template <class... Own>
  bool serves_flit_by_flit() const {
    return flit_by_flit_ || (... || (typeid(*this) == typeid(Own)));
  }
  /// Answers a transaction whose service was `later`. Not after header_leaves_ns.
  void answer(FabricTransaction& x, const Service&);
  /// Before that, of a read: all bytes before `nbytes` are there at t_ns, not before the present.
  void data_came(FabricTransaction& x, uint64_t nbytes, double t_ns) { fabric().mode().data_came(x, nbytes, t_ns); }
  /// What may be decided ahead of time, once the order of the requests is certain: nothing (a block that asks the
  /// timeline for the time); serve(), read headers leaving a fixed time after their arrival; serve(), all responses
  /// leaving in the order of their requests. Set by the constructor.
  enum class Early : uint8_t { nothing, reads, all };
  Early early_ = Early::nothing;

 private:
  void check(bool write, double from_ns, const Service&) const;
  static void book(FabricTransaction&, const Service&);
  [[noreturn]] void misled(const FabricTransaction&) const;

  const InputBuffers buffers_;
  bool flit_by_flit_ = false;
  std::vector<TurningServer> flit_servers_;
};

/// A memory whose service follows from its state and the request.
template <class State>
class StatefulMemory : public MemoryTarget {
 public:
  template <class Parameters>
  StatefulMemory(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters,
                 State idle = State())
      : MemoryTarget(name, config, parameters), idle_(std::move(idle)), state_(idle_) {}

 protected:
  /// The law: when the request is served, given the state that those before have left.
  virtual Service serve(State&, const Request&) const = 0;
  /// Traffic has been served so: for records of its own in the op log.
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

}  // namespace kernbench
