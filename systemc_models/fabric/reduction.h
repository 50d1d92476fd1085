// SPDX-License-Identifier: Apache-2.0
// A reduction on the way: one operation of several initiators on one place in memory, whose messages are added up at
// nodes that declare `reduces` (multicast rules §20). It models where messages meet, what goes on from there, and the
// acknowledgement that goes back to all sources. Values are Phase 2's.
//
// Decisions. Each source has a FabricTransaction. Where messages meet, the one of the source that was granted last goes
// on for all; the others rest until the acknowledgement, which is that of the last source of all, branches off to them.
// So link modes send a sum like any message.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/op/dtype.h"
#include "kernbench/systemc_models/fabric/transaction.h"

namespace kernbench::fabric {

class Fabric;
class FabricNode;
struct Link;

/// What a node that adds messages declares.
struct ReduceRules {
  double bw_gbs = 0;          ///< at most, of a sum on its link
  double reduce_ns = 0;       ///< beside the node's overhead
  std::vector<DType> dtypes;  ///< empty: all
  bool adds(std::optional<DType>) const;
};

class Reduction {
 public:
  /// Of the items of these initiators (indices of blocks); `dtype`: none where it is not known. AccessError for one
  /// that cannot be (§20.1).
  Reduction(Fabric&, const std::vector<uint32_t>& initiators, uint64_t address, uint64_t nbytes, std::optional<DType>);

  /// The transaction of a source, granted now.
  void join(FabricTransaction&);

  /// The order in which the sources' values are added (OnTheWay::order), independent of time (§20.3).
  const std::vector<int64_t>& value_order() const { return value_order_; }
  /// Whether several messages come to the node and are added there.
  bool meet_at(const FabricNode& node) const;
  /// A message at a node (in flit mode: a flit of it).
  struct Arrival {
    FabricTransaction* x = nullptr;
    double arrival_ns = 0;
    double here_ns = 0;  ///< all of it that the node waits for is here
    Link* from = nullptr;
    Flit* flit = nullptr;
  };
  /// Flit `number` (in other link modes 0) of a message arrives where messages meet. Null: others have still to come.
  /// Else all that have come, the last one last; valid until the next call.
  const std::vector<Arrival>* meet(const FabricNode& node, uint32_t number, const Arrival&);
  /// These have met: the transaction that goes on for them all. In flit mode asked for each flit.
  FabricTransaction& add_up(const FabricNode& node, const std::vector<Arrival>&);
  const ReduceRules& rules_at(const FabricNode& node) const;

  /// The memory has finished a message. Null: others have still to come. Else the transaction that acknowledges all;
  /// its operation is finished at finished_ns().
  FabricTransaction* served(FabricTransaction&, double finish_ns);
  double finished_ns() const { return finished_ns_; }
  /// What the message x, which the memory has served, waited there.
  double waited_ns(const FabricTransaction& x) { return source_of(x).waited_ns; }
  size_t sources() const { return sources_.size(); }
  /// Initiators (indices of blocks) whose item has not been granted.
  std::vector<uint32_t> missing() const;
  /// The acknowledgement that x carries is at a node, at x.time_ns: the transactions that carry it from there on beside
  /// x, one an edge, in its state.
  std::vector<FabricTransaction*> branch(FabricTransaction& x, const FabricNode& node);
  /// Calls f(FabricTransaction&) for each source's.
  template <class F>
  void for_each(F f) const {
    for (const Source& s : sources_) f(*s.x);
  }

 private:
  struct Source {
    uint32_t initiator = 0;
    const Route* route = nullptr;
    FabricTransaction* x = nullptr;
    std::vector<size_t> stands_for;  ///< of a message: its sources
    double added_bw_gbs = 0;         ///< least rate of nodes that added it; 0: none did
    size_t carrier = 0;              ///< of the acknowledgement
    double waited_ns = 0;            ///< at the memory
  };
  struct Node {
    const ReduceRules* rules = nullptr;  ///< null: it adds nothing
    size_t messages = 0;                 ///< that come
    FabricTransaction* sum = nullptr;    ///< null: none has gone on yet
    std::map<uint32_t, std::vector<Arrival>> come;
  };
  Source& source_of(const FabricTransaction&);
  void check_tree() const;
  void count_messages();
  const Route& way_of_sum(const Source&);

  std::vector<Source> sources_;
  std::map<const FabricNode*, Node> nodes_;
  std::deque<Route> ways_;  ///< of sums, with their bandwidths
  const std::optional<DType> dtype_;
  size_t messages_left_ = 0;  ///< that the memory has still to finish
  std::vector<int64_t> value_order_;
  double finished_ns_ = 0;
  uint64_t last_arrival_ = 0;
  FabricTransaction* slowest_ = nullptr;  ///< the message that the memory has finished last
};

}  // namespace kernbench::fabric
