// SPDX-License-Identifier: Apache-2.0
// What a machine does that takes energy, counted exactly and in one place: bits over each edge and through each router,
// MACs, math operations, bits of TCM, SRAM and HBM. docs/energy.md says what counts as what.
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

/// One count: a place and what is done there.
struct ActivityRow {
  uint32_t place = 0;  ///< a node; behind all nodes an edge
  std::string action;  ///< "read_bits"
  std::string constant;
  int64_t nm = 0;
  uint64_t count = 0;
  uint64_t sram_bytes = 0;  ///< size of the TCM or SRAM whose bits these are; 0: of none
  bool write = false;       ///< of it
};

/// Is told what is counted.
class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  /// A row of its own from here on; rows are numbered from 0 in the order in which they come.
  virtual void row_added(ActivityRow&) = 0;
  /// `amount` more of that row, done evenly in [from, to), ns.
  virtual void counted(size_t row, uint64_t amount, double from, double to) = 0;
};

/// Counts from its construction on; not while anything is told to observers. A transaction counts when it is done, a
/// service when it has ended.
class Activity : public PeObserver, public FabricObserver {
 public:
  Activity(Machine&, ActivitySink&);
  ~Activity() override;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  const std::vector<ActivityRow>& rows() const { return rows_; }
  /// Counts what memories have done behind their last access: once, at the end of a run.
  void settle();
  /// What is counted from now on begins no earlier: the begin of what is under way, at most the present.
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
  using Work = std::pair<const void*, unsigned>;  ///< what is under way: whose, and which of its servers
  struct ByAddress {                              // `<` has no meaning between addresses of different objects
    bool operator()(const Work& a, const Work& b) const {
      return a.first != b.first ? std::less<const void*>()(a.first, b.first) : a.second < b.second;
    }
  };
  void begin(Work, double t);
  /// When it began.
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
  /// Adds to the row of that place and action, which `make` describes when it is new: action, constant and the rest.
  template <class Make>
  void add(uint32_t place, std::string_view action, uint64_t amount, Span, const Make& make);
  void add_to(size_t row, uint64_t amount, Span);

  Machine& machine_;
  ActivitySink& sink_;
  std::vector<ActivityRow> rows_;
  std::vector<size_t> edge_rows_, router_rows_;                         ///< by edge, by node; kNone: none yet
  std::vector<std::map<std::string, size_t, std::less<>>> other_rows_;  ///< by node: by action, or what it is done with
  std::vector<std::string> passing_;        ///< by node: the constant of a bit that passes; empty: it is not counted
  std::vector<uint32_t> pe_of_;             ///< by node, of each pe_dma; kNoPe: another
  std::map<uint32_t, uint64_t> activates_;  ///< by memory, told last
  std::map<Work, double, ByAddress> open_;
  std::multiset<double> starts_;
};

}  // namespace energy
}  // namespace kernbench
