// SPDX-License-Identifier: Apache-2.0
// Exact counts of a machine's energy-relevant activity: bits over each edge and through each router, MACs, math
// operations, bits of TCM, SRAM and HBM. docs/energy.md defines the counts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/systemc_models/fabric/fabric_observer.h"
#include "kernbench/systemc_models/pe/observer.h"

namespace kernbench::elaborate {
class Machine;
}
namespace kernbench::pe {
struct QueueRing;
}

namespace kernbench {

namespace topology {
struct Edge;
}

namespace energy {

/// A count: a place and an action.
struct ActivityRow {
  uint32_t place = 0;  ///< a node, or, after all nodes, an edge
  std::string action;  ///< "read_bits"
  std::string constant;
  int64_t nm = 0;
  uint64_t count = 0;
  uint64_t sram_bytes = 0;  ///< size of the TCM or SRAM that is accessed; 0: none
  bool write = false;       ///< whether it is written
};

/// Receives the counts.
class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  /// A new row; rows are numbered from 0 in order.
  virtual void row_added(ActivityRow&) = 0;
  /// Adds `amount` to that row, evenly distributed over [from, to), ns.
  virtual void counted(size_t row, uint64_t amount, double from, double to) = 0;
};

/// Counts from its construction on; do not construct it within a call to observers. A transaction counts when it is
/// done, a service when it has ended.
class Activity : public PeObserver, public FabricObserver {
 public:
  Activity(Machine&, ActivitySink&);
  ~Activity() override;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  const std::vector<ActivityRow>& rows() const { return rows_; }
  /// Counts the memories' activity after their last access: once, at the end of a run.
  void settle();
  /// Earliest begin of later counts: the begin of the oldest activity in progress, at most the present.
  double open_from_ns() const;

  void access_started(const Component&, const FabricTransaction&, double t) override;
  void access_done(const Component&, const FabricTransaction&, double t) override;
  void post_started(const Component&, const FabricTransaction&, double t) override;
  void post_done(const Component&, const FabricTransaction&, double t) override;
  void server_changed(const Pe&, Stage, unsigned server, kernbench::Activity, const PeItem*, uint64_t op_id,
                      double t) override;
  void segment_taken(const Pe&, QueueServer, const QueueSegment&, double t) override;
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;

 private:
  static constexpr size_t kNone = ~size_t{0};
  struct Span {
    double from, to;
  };
  using Work = std::pair<const void*, unsigned>;  ///< an activity in progress: its object and server
  struct ByAddress {                              // `<` is undefined for addresses of different objects
    bool operator()(const Work& a, const Work& b) const {
      return a.first != b.first ? std::less<const void*>()(a.first, b.first) : a.second < b.second;
    }
  };
  void begin(Work, double t);
  /// Returns its begin.
  double end(Work);
  void add_way(const FabricTransaction&, Span);
  void add_router(uint32_t node, uint64_t bits, Span);
  void add_edge(uint32_t edge, uint64_t bits, Span);
  void add_memory(uint32_t node, bool write, uint64_t bytes, Span);
  void add_activates(uint32_t node, uint64_t so_far, Span);
  void add_tcm(const Pe&, bool write, uint64_t bytes, Span);
  void add_slot(const Pe&, const QueueRing&, bool write, uint64_t bytes, Span);
  void add_math(uint32_t engine, const std::string& op, const PeItem&, Span);
  void add_service(const Pe&, Stage, const PeItem&, Span);
  /// Adds to the row of that place and action; for a new row `make` gives action, constant and the rest.
  template <class Make>
  void add(uint32_t place, std::string_view action, uint64_t amount, Span, const Make& make);
  void add_to(size_t row, uint64_t amount, Span);

  Machine& machine_;
  ActivitySink& sink_;
  std::vector<ActivityRow> rows_;
  std::vector<size_t> edge_rows_, router_rows_;                         ///< by edge, by node; kNone: not created yet
  std::vector<std::map<std::string, size_t, std::less<>>> other_rows_;  ///< by node: by action or a variant of it
  std::vector<std::string> passing_;        ///< by node: the constant per passing bit; empty: not counted
  std::vector<uint32_t> pe_of_;             ///< by node, for each pe_dma; kNoPe: another node
  std::map<uint32_t, uint64_t> activates_;  ///< by memory, last reported
  std::map<Work, double, ByAddress> open_;
  std::multiset<double> starts_;
};

}  // namespace energy
}  // namespace kernbench
