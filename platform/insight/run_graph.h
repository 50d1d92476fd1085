// SPDX-License-Identifier: Apache-2.0
// The causes of a run: its moments, what each waited for, and what took the time in between. A moment comes as soon as
// all of its causes are done: t = max over causes of (the cause's moment + its cost). So the run's critical path is
// found by walking back from its end along the causes that came last, and the run can be timed anew under other costs
// without simulating it (docs/insight.md).
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
#include "kernbench/platform/insight/resource.h"

namespace kernbench::insight {

/// Time that one thing takes. ns.
struct CostPart {
  static constexpr uint32_t kNobody = ~0u;
  Resource resource = Resource::other;
  bool is_edge = false;  ///< `index` is of Graph::edges, else of Graph::nodes
  uint32_t index = kNobody;
  double ns = 0;
  Limit limit = Limit::none;  ///< without which it takes no time; of 0 ns: without which the cause is none
  bool operator==(const CostPart& o) const {
    return resource == o.resource && is_edge == o.is_edge && limit == o.limit && index == o.index && ns == o.ns;
  }
};

/// A place in RunGraph's list of costs; each stands there once. 0: nothing.
using Cost = uint32_t;
/// Likewise of moments; 0: the begin of the run.
using Moment = uint32_t;
/// Likewise of ops; 0: none.
using OpNumber = uint32_t;

struct Cause {
  Moment from = 0;
  Cost cost = 0;
};

class RunGraph {
 public:
  /// Below what single operations are exact to (timing rules), above what doubles lose on the way. ns.
  static constexpr double kSameNs = 1e-5;
  /// A difference of two times that should be none. ns.
  static constexpr double kNothingNs = 1e-9;

  /// `unexplained`: whose the time is that no cause explains.
  explicit RunGraph(double begin_ns, Resource unexplained = Resource::other);
  RunGraph(const RunGraph&) = delete;
  RunGraph& operator=(const RunGraph&) = delete;

  // What it is made of, as the run goes.
  // Parts of 0 ns are left out, but for a mark.
  Cost cost(const CostPart& part) { return plus(0, part); }
  Cost cost(const std::vector<CostPart>&);
  Cost plus(Cost, const CostPart&);
  Cost plus(Cost, Cost);
  /// A cause of such a cost is there because of the limit.
  Cost marked(Limit limit) const { return marks_[static_cast<size_t>(limit)]; }
  Cost marked(Limit limit, Cost c) { return plus(c, CostPart(parts_[costs_[marked(limit)].first])); }
  OpNumber op(const OpDesc*);
  /// Of what is no command.
  OpNumber op(const std::string& name, const SourceLine&, uint32_t pe = kNoPe);
  /// A moment of the run at t_ns. Where its causes leave a part of the time open, the last of them takes that as
  /// unexplained; one that would come later than t_ns is none.
  Moment add(double t_ns, OpNumber, const Cause* causes, size_t count);
  Moment add(double t_ns, OpNumber op, std::initializer_list<Cause> causes) {
    return add(t_ns, op, causes.begin(), causes.size());
  }

  /// A server has served what was ready by `first` before what was ready by `second`, as it came first.
  void turn(const Cause& first, const Cause& second) {
    turns_.push_back({first, second, static_cast<Moment>(moments_.size() - 1)});
  }

  // What it says.
  /// The turns told until a moment.
  std::vector<std::pair<Cause, Cause>> turns_until(Moment last) const;
  size_t size() const { return moments_.size(); }
  double ns(Moment m) const { return moments_[m].ns; }
  OpNumber op_of(Moment m) const { return moments_[m].op; }
  /// What the path tells of an op. (To keep its OpDesc would cost a run far more than all its causes.)
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
  std::pair<const CostPart*, const CostPart*> parts(Cost c) const {
    return {parts_.data() + costs_[c].first, parts_.data() + costs_[c].first + costs_[c].count};
  }
  /// Of what was added: time that no cause explains, and causes that would have come too late. Both are 0 where the
  /// graph knows all rules of a system.
  double unexplained_ns() const { return unexplained_ns_; }
  /// In this system there are waits for room in finite buffers: what no cause explains is one.
  bool has_finite_buffers() const { return unexplained_ == Resource::buffers; }
  uint64_t contradictions() const { return contradictions_; }
  /// A machine of which the run's time is asked.
  struct Machine {
    Machine() { factors.fill(1); }
    std::array<double, kResources> factors;  ///< what every part of each class takes of its time: 0.5 is twice as fast
    Limit without = Limit::none;             ///< nothing waits because of it
  };
  struct Retimed {
    double ns = 0;
    bool other_order = false;  ///< some server would be reached in another order than it keeps here
  };
  /// From one moment to another as often again.
  struct Repeated {
    Moment from = 0, to = 0;
    double more = 0;
  };
  /// When the moment would come on each of these machines: by walking all moments before it, for several at once. What
  /// waits for what stays as it was.
  std::vector<Retimed> retimed(Moment, const std::vector<Machine>&, const std::vector<Repeated>& = {}) const;
  /// Memory that it takes.
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
    Moment at;  ///< the latest moment when it was told: both causes are there
  };
  Cost keep(size_t first);
  void append(Cost);

  /// Sums that were asked for last: most are asked for again and again.
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
