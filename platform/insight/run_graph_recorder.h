// SPDX-License-Identifier: Apache-2.0
// Records the causal graph of a run (run_graph.h) for its critical path and for predictions. From the timing rules it
// only contains which event depends on which. Durations come from the observed run; time that no rule explains is
// reported (RunGraph::unexplained_ns).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/platform/elaborate/host_observer.h"
#include "kernbench/platform/insight/idle_times.h"
#include "kernbench/platform/insight/run_graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"
#include "kernbench/systemc_models/fabric/fabric_observer.h"
#include "kernbench/systemc_models/pe/observer.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench::elaborate {
class Machine;
}
namespace kernbench::pe {
struct QueueCall;
}
namespace kernbench::fabric {
struct Route;
}

namespace kernbench {

namespace insight {

class RunGraphRecorder : public PeObserver, public FabricObserver, public HostObserver {
 public:
  /// Records from now on. Construct it before the simulation starts, or while no activity is in progress. `turns`: also
  /// records arbitration orders at servers, so that a prediction can report a changed order.
  explicit RunGraphRecorder(Machine&, bool turns = false);
  ~RunGraphRecorder() override;
  RunGraphRecorder(const RunGraphRecorder&) = delete;
  RunGraphRecorder& operator=(const RunGraphRecorder&) = delete;

  const RunGraph& graph() const { return graph_; }
  /// The end of a run at t_ns, not before the host's last event.
  Moment end(double t_ns);
  IdleTimes& idle() { return idle_; }
  /// Time of pe_cpu for the commands of a PE's kernels, ns.
  double issue_ns(size_t pe) const { return pes_[pe].issue_ns; }
  /// "launch 3 (gemm)"; empty for a number without a launch.
  std::string launch_name(uint32_t number) const;

  // Kernels, commands, engines: run_graph_of_pes.cpp.
  void kernel_changed(const Pe&, KernelActivity, double t) override;
  void kernel_submits(const Pe&, const PeCommand&, double t) override;
  void kernel_works(const Pe&, double from, double to, const SourceLine&) override;
  void kernel_polls(const Pe&, double from, double to) override;
  void kernel_goes_on(const Pe&, uint64_t seq, bool sent, double t) override;
  void command_submitted(const Pe&, const PeCommand&, double t) override;
  void command_complete(const Pe&, const PeCommand&, double t) override;
  void item_queued(const Pe&, Stage, const PeItem&, double t) override;
  void server_changed(const Pe&, Stage, unsigned server, Activity, const PeItem*, uint64_t op_id, double t) override;
  void transaction_starts(const Pe&, const PeItem&, double t) override;

  // The fabric: run_graph_of_fabric.cpp.
  void access_started(const Component&, const FabricTransaction&, double t) override;
  void access_done(const Component&, const FabricTransaction&, double t) override;
  void branched(const FabricTransaction& from, const FabricTransaction& branch, uint32_t flit) override;
  void joined(const FabricTransaction& from, const FabricTransaction& to, uint32_t flit) override;
  void post_started(const Component&, const FabricTransaction&, double t) override;
  void post_done(const Component&, const FabricTransaction&, double t) override;
  void link_crossed(const FabricTransaction&, const Link&, const LinkCrossing&) override;
  void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double t) override;
  void channel_taken(const MemoryTarget&, const FabricTransaction&, size_t channel, double ready, double from,
                     double to) override;

  // Messages between PEs: run_graph_of_queues.cpp.
  void ports_opened(const Pe&, double t) override;
  void slot_taken(const Pe&, const QueueSegment&, double t) override;
  void segment_taken(const Pe&, QueueServer, const QueueSegment&, double t) override;
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;

  // The host: run_graph_of_host.cpp.
  void transfer_started(const void* id, bool write, uint64_t nbytes, double t) override;
  void transfer_done(const void* id, double t) override;
  void host_waits(const SourceLine&, double until) override;
  void launch_sent(const void* id, const LaunchId&, const std::vector<size_t>& pes, const LaunchWay&,
                   double t) override;
  void launch_returned(const void* id, const std::vector<uint32_t>& places, double t) override;
  void launch_done(const void* id, double t) override;

 private:
  static constexpr Moment kNone = ~0u;

  /// Cache for a cost of one part that repeats.
  struct LastCost {
    double ns = -1;
    Cost cost = 0;
  };
  struct Server {
    Moment taken = 0, service = 0, ended = 0, free = 0;
    const PeItem* item = nullptr;
    bool last_stage = false;
    LastCost cost;  ///< of its services
  };
  struct StageState {
    uint32_t node = CostPart::kNobody;
    double overhead_ns = 0;
    EngineRole* engine = nullptr;
    StageWork work = StageWork::elements;
    bool needs_slot = false;
    uint64_t queued = 0;  ///< number of items so far
    Cause offered;        ///< of the last item
    uint32_t depth = 1;
    std::vector<Moment> taken;  ///< when the last `depth` items left the queue; by number modulo `depth`
    uint64_t taken_count = 0;
    std::vector<Server> servers;
  };
  struct PortState {
    uint64_t segments = 0;  ///< that took slots of the peer's ring
    Moment last_slot = 0;
    Moment last_arrival = 0;
    std::vector<Moment> credits;  ///< returned ones
  };
  struct PeState {
    uint32_t cpu = CostPart::kNobody, scheduler = CostPart::kNobody, queues = CostPart::kNobody;
    double scheduler_ns = 0, queues_ns = 0;
    double issue_ns = 0;
    LastCost issue, dispatch, stand;
    bool runs = false, stands_still = false;
    Moment launch = 0, kernel = 0, last_done = 0, ended = 0, returned = 0;
    Cost start = 0;
    // By the command's seq: when it was done, when all segments of a send had slots, and when pe_ipcq was done with it.
    std::vector<Moment> done, sent, calls_done;
    StageState stages[kMostStages];
    Moment slot = 0;   ///< when the accel_slot was released
    Cause slot_asked;  ///< by its last user
    Moment fed = 0;    ///< of the last tile
    uint64_t tiles_fed = 0;
    std::vector<Moment> tiles_left;
    // Messages.
    std::vector<PortState> ports;
    Moment comm_free = 0, inbound_free = 0, writer_free = 0, reader_free = 0;
    Cause comm_asked, inbound_asked, reader_asked;
    const QueueSegment* reading = nullptr;
    // Of tl.wait_until: the flag that the last poll read, and the end of that poll.
    uint64_t flag = 0;
    Moment polled = 0;
    bool pauses = false;  ///< until the next poll
  };
  struct Submitted {
    Moment at = 0;
    OpNumber op = 0;
  };
  /// A flit, or a message that travels as its header. `last`: the time when it left the last server, and the cost from
  /// there to its present place.
  struct Traveller {
    explicit Traveller(const Cause& from = {}, double t = 0) : last(from), here_ns(t) {}
    Cause last;
    double here_ns;  ///< arrival at its next block
    const Link* by = nullptr;
    Cause took;           ///< when it took that link
    double held_ns = -1;  ///< time for which it holds that link
  };
  /// At a channel that was free from `before` on, held for `ns`.
  struct Chunk {
    Moment before = 0;
    double ns = 0;
    Moment served = 0;
  };
  struct Access {
    bool open = false;
    OpNumber op = 0;
    const PeItem* item = nullptr;
    const void* transfer = nullptr;
    const QueueSegment* segment = nullptr;
    std::vector<Traveller> travellers;  ///< one, or with flits by their numbers
    double stored_ns = 0;               ///< reported part of its store-and-forward latency
    bool responds = false;
    bool by_header = true;  ///< it travels as its header, not in flits
    // At the memory: end of its overhead; its chunks or flits; the end of all.
    Moment queued = kNone, finished = kNone, left = kNone;  ///< left: when its response left
    std::vector<Moment> served;
    std::vector<Chunk> chunks;  ///< of channels with equal times
  };
  struct MemoryState {
    Resource bandwidth = Resource::hbm;
    Moment free = 0;
    Moment bound = 0;  ///< before the time that a user's memory takes by itself and during which it may not be held
    Cause last;        ///< of the last request's arrival
    std::vector<Moment> channels;
  };
  /// A FIFO server. The next message waits for `taken` plus the cost `held`.
  struct LinkState {
    Cause taken;
    Cost held = 0;
    Resource resource = Resource::link;
    double held_ns = -1;  ///< time of `held`
    Cause last;           ///< when the last message was ready
    const Link* by = nullptr;
    Cost onward = 0;    ///< to the link's other end, after it has been taken
    uint32_t node = 0;  ///< the node before it
    // While `follows` is true, no message can wait here on any machine, and no event is recorded.
    bool follows = true;
    const Link* follows_by = nullptr;                 ///< the link over which all messages came
    double stop_ns = 0;                               ///< delay of each message at the node
    double taken_ns = 0, takes = 0;                   ///< of the last message
    OpNumber op = 0;                                  ///< of the last message
    Cost in = CostPart::kNobody, ready = 0, out = 0;  ///< costs to the node, at the link, and to its other end
  };
  /// A word that kernels poll (tl.wait_until): its last two writes.
  struct Flag {
    Moment written = 0, before = 0;
  };
  struct Segment {
    Moment at = 0;
    OpNumber op = 0;
    const FabricTransaction* posted = nullptr;
  };
  struct Launch {
    uint32_t number = 0;
    std::vector<size_t> pes;
    std::vector<Cost> ways;  ///< by place
  };
  /// A route's costs in both directions if links are no servers. For each class the lowest bandwidth in the direction
  /// of the data of writes and of reads, as ns per byte. `inner`: without the memory's edge.
  struct Way {
    Cost there = 0, back = 0;
    std::vector<CostPart> write, read, write_inner, read_inner;
    bool alike = true;  ///< costs all messages the same
  };

  PeState& state(const Pe& pe) { return pes_[pe.index]; }
  static Moment at(const std::vector<Moment>& list, uint64_t seq) { return seq < list.size() ? list[seq] : kNone; }
  static void note(std::vector<Moment>& list, uint64_t seq, Moment);
  OpNumber host_line(double t);
  Cost part_cost(LastCost&, Resource, uint32_t node, double ns);
  OpNumber op_of(const PeItem& item) const;
  Moment service_of(const Component& initiator, const PeItem&) const;
  Moment item_moment(const PeItem* item) const;
  void end_of_service(PeState&, const StageState&, Server&, const PeItem&, double t);

  Way& way_of(const Route&);
  Cause then(const Cause& last, const CostPart& part) { return {last.from, graph_.plus(last.cost, part)}; }
  Cause then(const Cause& last, Cost cost) { return {last.from, graph_.plus(last.cost, cost)}; }
  void wait_for_room(const Link&, double start_ns, Cause& own, Cause& free);
  Access* find(const FabricTransaction&);
  Access& open(const FabricTransaction&);
  CostPart of_node(const Component&, double ns) const;
  CostPart of_link(const Link&, double ns) const;
  CostPart overhead_of(const MemoryTarget&) const;
  Cost way_cost(const FabricTransaction&, bool back);
  Cause at_memory(const FabricTransaction&, Access&);
  Cause behind(Moment before, const MemoryTarget&, const FabricTransaction&, double t);
  /// The memory's breakdown of its time from the event to t; nothing if it provides none.
  std::optional<Cost> spent(Moment from, const MemoryTarget&, const FabricTransaction&, double t);
  Cost held_channel(const MemoryTarget&, const FabricTransaction&, CostPart held);
  void finished(const MemoryTarget&, const FabricTransaction&, Access&, double t);
  Moment written(uint64_t flag, Moment since, double until) const;
  static bool polls(const Access&);
  void end_of_interval(PeState&, double to);
  void poll_or_write(const Access&, const FabricTransaction&);
  void read_and_written(const Cause& last, const Way&, const FabricTransaction&);
  void with_bandwidths(const Cause& last, const std::vector<CostPart>& per_byte, double bytes);
  void responds(const FabricTransaction&, Access&);
  /// When its response left the memory; for data that leave before all is served, when it was requested.
  static Moment left_memory(const Access& a) { return a.left != kNone ? a.left : a.queued != kNone ? a.queued : 0; }
  Moment came_back(const Component& initiator, const FabricTransaction&, Access&, double t);
  Cause stands(PeState&, const QueueCall*);
  std::vector<Cost> launch_costs(const LaunchWay&);
  void add_leg(std::vector<CostPart>&, uint32_t from, uint32_t to);
  static void begin(Access&, Moment granted, double t);
  bool may_follow(const LinkState&, const Traveller& before, const LinkCrossing&, double stop_ns) const;
  Cause follow(LinkState&, const Link&, const Traveller& before, const LinkCrossing&, double stop_ns, OpNumber);
  void follow_no_more(LinkState&, const Link&);
  Cause take(LinkState&, const Link&, Cause ready, const LinkCrossing&, OpNumber);
  void hold(LinkState&, const Link&, double takes, bool header);
  /// The header of a segment or credit has arrived, with cost `there` after its last dependency.
  void message_came(const FabricTransaction&, const QueueSegment&, Segment&, const Cause& there, bool by_header,
                    double t);
  void comm_served(PeState&, const QueueSegment&, Segment&, double t);
  void leaves(const QueueSegment&, const Segment&);
  /// The event m; if it is before t, a new event at t that depends on it.
  Moment not_before(double t, Moment m) {
    return graph_.ns(m) < t - RunGraph::kSameNs ? graph_.add(t, graph_.op_of(m), {{m, 0}}) : m;
  }
  /// An item arrives at a server by `next`; `last` is the previous item's arrival.
  void comes_to(Cause& last, const Cause& next) {
    if (turns_ && last.from != 0) graph_.turn(last, next);
    last = next;
  }
  /// An event with the collected dependencies.
  Moment add(double t, OpNumber op) {
    const Moment m = graph_.add(t, op, causes_.data(), causes_.size());
    causes_.clear();
    return m;
  }

  Machine& machine_;
  RunGraph graph_;
  std::vector<Cause> causes_;  ///< collected for the next event
  std::vector<PeState> pes_;
  std::vector<uint32_t> pe_of_node_;
  std::unordered_map<const PeCommand*, Submitted> commands_;
  std::unordered_map<const PeItem*, Moment> items_;
  std::unordered_map<const FabricTransaction*, Access> accesses_;
  /// Cache of the last lookup: a header's hops come in sequence.
  const FabricTransaction* asked_ = nullptr;
  Access* found_ = nullptr;
  std::unordered_map<const Route*, Way> ways_;
  std::unordered_map<const QueueSegment*, Segment> segments_;
  std::map<uint64_t, Flag> flags_;     ///< by address
  std::vector<MemoryState> memories_;  ///< by node
  std::vector<LinkState> links_;       ///< by edge
  std::vector<Resource> nodes_;        ///< by node: the resource of its overhead
  std::vector<Moment> last_access_;    ///< by node of its initiator
  const PeItem* next_item_ = nullptr;  ///< its transaction starts with the next call
  std::unordered_map<const void*, Moment> transfers_;
  std::unordered_map<const void*, Launch> launches_;
  std::map<uint32_t, std::string> launch_names_;
  Moment host_ = 0;                                  ///< the host's last event
  std::vector<std::pair<double, OpNumber>> delays_;  ///< delays of a program: end, and its line
  IdleTimes idle_;
  bool responses_travel_, turns_;
};

}  // namespace insight
}  // namespace kernbench
