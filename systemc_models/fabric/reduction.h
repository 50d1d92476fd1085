// SPDX-License-Identifier: Apache-2.0
// A reduction on the way: several initiators combine their values into one range of memory. Nodes that declare
// `reduces` add up its messages (multicast rules §20). It models where messages meet, the sum that continues from
// there, and the acknowledgement that returns to all sources. Phase 2 computes the values.
//
// Design: each source has a FabricTransaction. Where messages meet, the transaction of the source that was granted last
// carries the sum. The other transactions rest until the acknowledgement branches off to them. So link modes send a sum
// like any message.
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

/// Attributes of a node that adds messages.
struct ReduceRules {
  double bw_gbs = 0;          ///< maximum rate of a sum on the next link
  double reduce_ns = 0;       ///< time of adding, in addition to the node's overhead
  std::vector<DType> dtypes;  ///< element types that it adds; empty: all
  bool adds(std::optional<DType>) const;
};

class Reduction {
 public:
  /// `initiators`: the sources, as indices of blocks. `dtype`: none if it is unknown. AccessError if a rule of §20.1
  /// is broken.
  Reduction(Fabric&, const std::vector<uint32_t>& initiators, uint64_t address, uint64_t nbytes, std::optional<DType>);

  /// Adds the transaction of a source, which is granted now.
  void join(FabricTransaction&);

  /// The order in which the sources' values are added (OnTheWay::order), independent of time (§20.3).
  const std::vector<int64_t>& value_order() const { return value_order_; }
  /// Whether the node receives several messages and adds them.
  bool meet_at(const FabricNode& node) const;
  /// A message at a node (in flit mode: a flit of it).
  struct Arrival {
    FabricTransaction* x = nullptr;
    double arrival_ns = 0;
    double here_ns = 0;  ///< arrival of the last part that the node waits for
    Link* from = nullptr;
    Flit* flit = nullptr;
  };
  /// Flit `number` (in other link modes 0) of a message arrives where messages meet. Null: other messages are missing.
  /// Else all arrivals, in order of time; valid until the next call.
  const std::vector<Arrival>* meet(const FabricNode& node, uint32_t number, const Arrival&);
  /// Returns the transaction that carries the sum of these arrivals. In flit mode called once per flit.
  FabricTransaction& add_up(const FabricNode& node, const std::vector<Arrival>&);
  const ReduceRules& rules_at(const FabricNode& node) const;

  /// The memory has finished a message. Null: other messages are missing. Else the transaction that acknowledges all;
  /// the operation is finished at finished_ns().
  FabricTransaction* served(FabricTransaction&, double finish_ns);
  double finished_ns() const { return finished_ns_; }
  /// What the message x, which the memory has served, waited there.
  double waited_ns(const FabricTransaction& x) { return source_of(x).waited_ns; }
  size_t sources() const { return sources_.size(); }
  /// Whether a source has been granted.
  bool begun() const;
  /// The ids of sources that have not been granted, joined.
  std::string missing() const;
  /// The acknowledgement that x carries is at a node, at x.time_ns. Returns the other transactions that carry it from
  /// there on, one per edge, in the state of x.
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
    std::vector<size_t> stands_for;  ///< sources that its message represents
    double added_bw_gbs = 0;         ///< lowest rate of the nodes that added it; 0: none did
    size_t carrier = 0;              ///< number of the source that carries its acknowledgement
    double waited_ns = 0;            ///< at the memory
  };
  struct Node {
    const ReduceRules* rules = nullptr;  ///< null: it adds nothing
    size_t messages = 0;                 ///< that it receives
    FabricTransaction* sum = nullptr;    ///< carries the sum; null: no sum has left
    std::map<uint32_t, std::vector<Arrival>> come;
  };
  Source& source_of(const FabricTransaction&);
  void check_tree() const;
  void count_messages();
  const Route& way_of_sum(const Source&);

  std::vector<Source> sources_;
  std::map<const FabricNode*, Node> nodes_;
  std::deque<Route> ways_;  ///< routes of sums, with their bandwidths
  const std::optional<DType> dtype_;
  size_t messages_left_ = 0;  ///< that the memory has yet to finish
  std::vector<int64_t> value_order_;
  double finished_ns_ = 0;
  uint64_t last_arrival_ = 0;
  FabricTransaction* slowest_ = nullptr;  ///< the message that the memory has finished last
};

}  // namespace kernbench::fabric
