// SPDX-License-Identifier: Apache-2.0
// A multicast: one write to several memories (multicast rules §19). It models the tree of the routes and its forks.
// Times of links, nodes and memories are those of any message.
//
// Design: each destination has a FabricTransaction with its own route. A memory serves it, and its acknowledgement
// returns, like those of any write. Destinations behind one edge travel as the first of them. At a fork, the
// destinations that leave by another edge get a copy of its state and continue as separate messages. So an edge carries
// the message once, and the link modes need no further rules. Combined acknowledgements meet at forks.
//
// A foreign block gets one payload for all destinations behind it, and gives one response, so their acknowledgements
// meet behind it. A block that forks (its attribute `multicast`) may send that payload to one neighbour. Its own
// payloads, which are transactions of their own, go to the others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernbench/systemc_models/core/timeline.h"
#include "kernbench/systemc_models/fabric/access.h"
#include "kernbench/systemc_models/fabric/transaction.h"

namespace kernbench::fabric {

class Fabric;
class FabricNode;
class FabricTransaction;
class ForeignNeighbour;
struct Link;
struct Route;

class Multicast {
 public:
  /// `combined`: forks join acknowledgements.
  Multicast(bool combined, Fabric& fabric) : combined_(combined), fabric_(fabric) {}
  /// Adds the transaction of the next destination.
  void add(FabricTransaction& x);
  /// The transaction of the first destination, which represents the multicast.
  FabricTransaction& first() const { return *members_.front().x; }

  bool combined() const { return combined_; }
  /// The message that x carries is ready at node x.node. Returns the other transactions that carry it from there on,
  /// one per edge, in the state of x.
  std::vector<FabricTransaction*> fork(FabricTransaction& x);
  /// A foreign block serves the destinations that x carries, except those behind `port` if x leaves the block by it.
  /// They end with x. Returns their number.
  size_t left_to_block(const FabricTransaction& x, const FabricPort* port = nullptr);
  /// x has come out of a foreign block by `port`. The destinations that it carries return there together.
  void came_in(FabricTransaction& x, const FabricPort& port);
  /// An acknowledgement returns to a foreign block. When all have returned, returns the transaction whose payload the
  /// block has, in the state of the last; before that, null.
  FabricTransaction* gather(FabricTransaction& x, const FabricPort& port);
  /// The transactions that fork() returned at a node.
  std::vector<FabricTransaction*> branches(const FabricTransaction& x, uint32_t node) const;

  /// Whether acknowledgements wait for each other at a node, number `number` of the route.
  bool joins(uint32_t number, const FabricNode& node) const;
  struct Joined {
    FabricTransaction* x = nullptr;
    double arrival_ns = 0;
    const Link* from = nullptr;
    Order order;
    FabricTransaction* absorbed = nullptr;  ///< by this arrival: it ends here
  };
  /// An acknowledgement arrives at a node that joins them. When all have arrived, returns the one that continues, which
  /// is the last by arrival. Before that, x is null.
  Joined join(const FabricNode& node, const Joined& arrives);

  /// Whether x, which is done at x.done_ns, is the last.
  bool ends(FabricTransaction& x);
  double done_ns() const;
  /// Gives the first transaction the latency breakdown of the slowest.
  void complete_account();
  void release_others();
  /// The transaction of the slowest destination; valid when all are done.
  FabricTransaction& slowest() const { return *slowest_; }
  /// Calls f(FabricTransaction&) for each destination's, in their order.
  template <class F>
  void for_each(F f) const {
    for (const Member& m : members_) f(*m.x);
  }

  /// A posted message has left over one of its first edges; the source is free again at *free_ns. Returns whether it
  /// has left over all first edges; *free_ns is then the latest.
  bool has_left(double* free_ns);
  /// The transaction that carries x at present: itself, or another one.
  const FabricTransaction& carrier_of(const FabricTransaction& x) const {
    for (const Member& m : members_) {
      if (m.x == &x && m.carrier != kBlock) return *members_[m.carrier].x;
    }
    return x;
  }
  /// Calls f(FabricTransaction&) for x and those that it carries.
  template <class F>
  void for_each_carried(const FabricTransaction& x, F f) const {
    for (const Member& m : members_) {
      if (m.carrier != kBlock && members_[m.carrier].x == &x) f(*m.x);
    }
  }

  /// Latency in an idle system, ns (§19.5).
  static double formula_ns(Fabric&, uint32_t initiator, const MulticastTo&, uint64_t nbytes, const Rows&);

 private:
  struct Member {
    FabricTransaction* x;
    size_t carrier;  ///< number of the member that carries it; kBlock: a foreign block serves it
  };
  static constexpr size_t kBlock = ~size_t{0};
  struct Gathering {
    const FabricPort* port;
    FabricTransaction* x;
    std::vector<const FabricTransaction*> members;
    size_t outstanding;
  };
  /// Another acknowledgement includes that of x.
  void absorb(const FabricTransaction& x);
  struct Branch {
    const FabricTransaction* from;
    uint32_t node;
    FabricTransaction* to;
  };
  struct Join {
    size_t branches = 1, arrived = 0;
    Joined last;
  };
  const bool combined_;
  Fabric& fabric_;
  std::vector<Member> members_;
  std::vector<Branch> branches_;
  std::map<const FabricNode*, Join> joins_;
  std::vector<Gathering> gatherings_;
  size_t open_ = 0, first_edges_ = 1, left_ = 0;
  double free_ns_ = 0;
  FabricTransaction* slowest_ = nullptr;
};

/// AccessError for an illegal multicast (§19.1 to §19.3, §19.7, §19.10).
void check_multicast(Fabric&, uint32_t initiator, const MulticastTo&, uint64_t nbytes);
/// AccessError if a foreign block must fork the tree of these routes and `knows` is false for it.
void check_foreign_forks(const std::vector<const Route*>&, bool (*knows)(const ForeignNeighbour&));

/// Calls f(const FabricTransaction&) for the transaction, or for each destination's of a multicast.
template <class F>
void for_each_destination(const FabricTransaction& x, F f) {
  x.multicast ? x.multicast->for_each([&](const FabricTransaction& m) { f(m); }) : f(x);
}

}  // namespace kernbench::fabric
