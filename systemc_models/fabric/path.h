// SPDX-License-Identifier: Apache-2.0
// The path of a message: its hops from the source to the end, in travel order. Models the cost of each hop for the
// message. Does not model waits for other messages, which the link mode determines.
#pragma once

#include "kernbench/systemc_models/fabric/access.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"

namespace kernbench::fabric {

/// A node and a link of a path. A request leaves the node over the link; a response reaches the node over it. The
/// memory belongs to no hop, because its cost is its service.
struct PathHop {
  const FabricPort* port = nullptr;    ///< port of the node at the link
  const Link* link = nullptr;          ///< null: a foreign memory without an adapter, which has no link, answers
  const Link* past_foreign = nullptr;  ///< the second link of a hop with a foreign block, after the block; null: none
  const Link* from = nullptr;          ///< link by which the message reaches the node; null: it begins there
  uint32_t number = 0;                 ///< number of the node: 0 is the initiator
  bool response = false;

  const FabricNode& node() const { return port->node(); }
  /// The only function that computes the cost of a node of a path (timing rules §2, §3).
  NodeCost cost(const PassingMessage& m) const {
    if (number > 0) return node().passing_cost(m, from);
    return {response ? node().end_ns() : node().begin_ns(m), 0};
  }
  double wire_ns() const { return (link ? link->wire_ns : 0) + (past_foreign ? past_foreign->wire_ns : 0); }
};

class Path {
 public:
  /// `hops` are numbered from the initiator on, in both directions.
  Path(const Hop* hops, size_t count, bool response)
      : hops_(hops), count_(static_cast<uint32_t>(count)), response_(response) {}
  size_t size() const { return count_; }
  /// The n-th hop that the message takes.
  PathHop operator[](size_t n) const { return at_node(static_cast<uint32_t>(response_ ? count_ - 1 - n : n)); }
  /// The hop of a node by its number. Sums over hops in this order are bit-identical in both directions.
  PathHop at_node(uint32_t i) const {
    const Hop& at = hops_[i];
    PathHop hop;
    hop.port = at.out;
    hop.number = i;
    hop.response = response_;
    if (response_) {
      hop.link = at.in ? &at.in->link : nullptr;
      hop.past_foreign = link_from(at.out->foreign());
      hop.from = hop.link ? hop.link : hop.past_foreign;
    } else {
      hop.link = &at.out->link;
      hop.past_foreign = at.in ? link_from(at.in->foreign()) : nullptr;
      hop.from = i > 0 ? &hops_[i - 1].out->link : nullptr;
    }
    return hop;
  }
  class Iterator {
   public:
    Iterator(const Path& path, size_t n) : path_(path), n_(n) {}
    PathHop operator*() const { return path_[n_]; }
    Iterator& operator++() {
      ++n_;
      return *this;
    }
    bool operator!=(const Iterator& o) const { return n_ != o.n_; }

   private:
    const Path& path_;
    size_t n_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, count_}; }

 private:
  static const Link* link_from(const ForeignNeighbour* block) { return block ? &block->from : nullptr; }

  const Hop* hops_;
  uint32_t count_;
  bool response_;
};

inline Path Route::path(bool response) const {
  const std::vector<Hop>& way = response ? way_back() : hops;
  return {way.data(), way.size(), response};
}
inline Path FabricTransaction::path(bool response) const {
  return response ? Path(back, back_count, true) : Path(hops, hop_count, false);
}

}  // namespace kernbench::fabric
