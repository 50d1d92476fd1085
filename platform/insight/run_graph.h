// SPDX-License-Identifier: Apache-2.0
// The causal graph of a run: its events (Moment), their dependencies (Cause), and the time that each dependency takes
// (Cost). An event happens when all its dependencies are done: t = max over dependencies of (event's time + cost). The
// critical path follows the last dependency of each event from the end back. The run's time under other costs is
// predicted without simulation (docs/insight.md).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/op.h"
#include "kernbench/platform/insight/blocks.h"
#include "kernbench/platform/insight/doubt.h"
#include "kernbench/platform/insight/resource.h"

namespace kernbench::insight {

/// Time that one resource takes, ns.
struct CostPart {
  static constexpr uint32_t kNobody = ~0u;
  Resource resource = Resource::other;
  bool is_edge = false;  ///< `index` refers to Graph::edges, else to Graph::nodes
  uint32_t index = kNobody;
  double ns = 0;
  Limit limit = Limit::none;  ///< without this limit it takes no time; at 0 ns: without it the dependency disappears
  bool operator==(const CostPart& o) const {
    return resource == o.resource && is_edge == o.is_edge && limit == o.limit && index == o.index && ns == o.ns;
  }
};

/// Index into RunGraph's list of distinct costs. 0: nothing.
using Cost = uint32_t;
/// Index of an event; 0: the begin of the run.
using Moment = uint32_t;
/// Index of an op; 0: none.
using OpNumber = uint32_t;

struct Cause {
  Moment from = 0;
  Cost cost = 0;
};

class RunGraph {
 public:
  static constexpr double kSameNs = Overtakes::kSameNs;
  /// Tolerance for two times that should be equal. ns.
  static constexpr double kNothingNs = 1e-9;

  /// `unexplained`: the resource for time that no dependency explains.
  explicit RunGraph(double begin_ns, Resource unexplained = Resource::other);
  RunGraph(const RunGraph&) = delete;
  RunGraph& operator=(const RunGraph&) = delete;

  // Construction, during the run. Parts of 0 ns are left out, except for marks.
  Cost cost(const CostPart& part) { return plus(0, part); }
  Cost cost(const std::vector<CostPart>&);
  Cost plus(Cost, const CostPart&);
  Cost plus(Cost, Cost);
  /// A dependency with such a cost exists because of the limit.
  Cost marked(Limit limit) const { return marks_[static_cast<size_t>(limit)]; }
  Cost marked(Limit limit, Cost c) { return plus(c, CostPart(parts_[costs_[marked(limit)].first])); }
  OpNumber op(const OpDesc*);
  /// An op that is no command.
  OpNumber op(const std::string& name, const SourceLine&, uint32_t pe = kNoPe);
  /// An event of the run at t_ns. If its dependencies leave time unexplained, the last one is extended by it. A
  /// dependency that would end after t_ns is dropped.
  Moment add(double t_ns, OpNumber, const Cause* causes, size_t count);
  Moment add(double t_ns, OpNumber op, std::initializer_list<Cause> causes) {
    return add(t_ns, op, causes.begin(), causes.size());
  }

  /// A server served the item that was ready at `first` before that at `second`.
  void turn(const Cause& first, const Cause& second) {
    turns_.push_back({first, second, static_cast<Moment>(moments_.size() - 1)});
  }

  // Queries.
  /// The arbitration orders reported until an event.
  std::vector<std::pair<Cause, Cause>> turns_until(Moment last) const;
  size_t size() const { return moments_.size(); }
  double ns(Moment m) const { return moments_[m].ns; }
  OpNumber op_of(Moment m) const { return moments_[m].op; }
  /// Data of an op for the path. (Keeping its OpDesc would take far more memory than the graph.)
  struct Op {
    const std::string* name = nullptr;  ///< log name
    uint32_t pe = kNoPe, launch = kNoLaunch;
    SourceLine where;
  };
  /// Null for 0.
  const Op* op_at(OpNumber n) const { return n == 0 ? nullptr : &ops_[n]; }
  using CauseAt = Blocks<Cause>::Iterator;
  std::pair<CauseAt, CauseAt> causes(Moment m) const {
    return {causes_.at(moments_[m].first_cause), causes_.at(end_of(m))};
  }
  size_t costs() const { return costs_.size(); }
  double cost_ns(Cost c) const { return costs_[c].ns; }
  double ns(const Cause& c) const { return ns(c.from) + cost_ns(c.cost); }
  std::pair<const CostPart*, const CostPart*> parts(Cost c) const {
    return {parts_.data() + costs_[c].first, parts_.data() + costs_[c].first + costs_[c].count};
  }
  /// Of all added events: time that no dependency explains, and dependencies that would have ended too late. Both are 0
  /// if the graph covers all rules of a system.
  double unexplained_ns() const { return unexplained_ns_; }
  /// The system has waits for room in finite buffers; unexplained time is such a wait.
  bool has_finite_buffers() const { return unexplained_ == Resource::buffers; }
  uint64_t contradictions() const { return contradictions_; }
  /// A machine whose run time is predicted.
  struct Machine {
    Machine() { factors.fill(1); }
    std::array<double, kResources> factors;  ///< time factor of each class: 0.5 is twice as fast
    Limit without = Limit::none;             ///< nothing waits because of this limit
  };
  struct Retimed {
    double ns = 0;
    Overtakes overtakes;
  };
  /// A part of the run, from one event to another, that counts `more` times again.
  struct Repeated {
    Moment from = 0, to = 0;
    double more = 0;
  };
  /// The event's time on each of these machines: walks all earlier events once for several machines. Dependencies stay
  /// the same.
  std::vector<Retimed> retimed(Moment, const std::vector<Machine>&, const std::vector<Repeated>& = {}) const;
  /// Memory use.
  uint64_t bytes() const;

 private:
  struct Entry {
    double ns;
    uint32_t first_cause;
    OpNumber op;
  };
  struct CostEntry {
    uint32_t first, count;
    double ns;
  };
  struct SameCost {
    const RunGraph* graph;
    size_t operator()(Cost) const;
    bool operator()(Cost, Cost) const;
  };
  uint32_t end_of(Moment m) const {
    return m + 1 < moments_.size() ? moments_[m + 1].first_cause : static_cast<uint32_t>(causes_.size());
  }
  static constexpr size_t kAtOnce = 8;
  using Times = std::array<double, kAtOnce>;
  template <class T>
  using Large = std::vector<T, LargePageAllocator<T>>;
  Large<Moment> last_uses(Moment last) const;
  void retime(Moment, const Machine*, size_t count, const Large<Moment>& last_use, const std::vector<Repeated>&,
              Retimed* found) const;
  struct Turn {
    Cause first, second;
    Moment at;  ///< the latest event when it was reported; both dependencies exist
  };
  Cost keep(size_t first);
  void append(Cost);

  /// Cache of recent sums; most are requested repeatedly.
  struct Sum {
    Cost before = 0;
    CostPart part;
    Cost sum = 0;
  };
  static constexpr size_t kSums = 1 << 15;  ///< a power of two

  Blocks<Entry> moments_;
  Blocks<Cause> causes_;
  std::vector<CostEntry> costs_;
  std::vector<CostPart> parts_;
  const Resource unexplained_;
  std::unordered_set<Cost, SameCost, SameCost> known_;
  std::vector<Sum> sums_{kSums};
  std::array<Cost, kLimits> marks_{};
  Large<Op> ops_;
  std::unordered_set<std::string> names_;
  Large<Turn> turns_;
  double unexplained_ns_ = 0;
  uint64_t contradictions_ = 0;
};

}  // namespace kernbench::insight
