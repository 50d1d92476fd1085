// SPDX-License-Identifier: Apache-2.0
// The path of a message: its hops from the source to the end, in the order in which the message takes them.
// Models: what each hop costs the message. Does not model: waits for others, which the link mode knows.
#pragma once

#include "kernbench/systemc_models/fabric/access.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"

namespace kernbench::fabric {

/// A node and a link of a path. A request leaves the node over the link; a response comes to the node over it. So the
/// memory, whose cost is its service, belongs to no hop.
struct PathHop {
  const FabricPort* port = nullptr;    ///< of the node, at the link
  const Link* link = nullptr;          ///< null: a foreign memory without an adapter answers, which has no link
  const Link* past_foreign = nullptr;  ///< second link of the hop, out of a foreign block between; null: none
  const Link* from = nullptr;          ///< by which the message comes to the node; null: it begins there
  uint32_t number = 0;                 ///< of the node: 0 is the initiator
  bool response = false;

  const FabricNode& node() const { return port->node(); }
  /// The one place that states what a node of a path costs (timing rules §2, §3).
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
  /// The hop of a node by its number. Sums over it are the same to the last bit in both directions.
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
