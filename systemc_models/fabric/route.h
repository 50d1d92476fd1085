// SPDX-License-Identifier: Apache-2.0
// The route from an initiator to a memory, resolved once, and the zero-load latency of transactions on it.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench::fabric {

class FabricNode;
class MemoryTarget;

/// An access that the system cannot serve: the address has no memory, or no path leads to it. One line.
class AccessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Zero-load latency of a transaction (timing rules §2). ns.
struct ZeroLoad {
  double latency_ns = 0;        ///< from the grant to done
  double service_ns = 0;        ///< at the memory, from arrival to finish (not in flit mode)
  double store_forward_ns = 0;  ///< wait for the rest of the data at store-and-forward nodes
};

class Path;

struct Route {
  MemoryTarget* target = nullptr;  ///< null: a foreign memory, bound without an adapter, or a route of messages
  uint64_t base = 0, size = 0;     ///< of the memory
  bool returns = false;            ///< every edge has an edge back
  /// No foreign block is on the path, so the zero-load latency is known.
  bool known = true;
  std::vector<Hop> hops;
  /// The path of responses if it differs from the reversed hops, numbered from the initiator on; else empty.
  std::vector<Hop> own_back;
  const std::vector<Hop>& way_back() const { return own_back.empty() ? hops : own_back; }
  /// The hops of a request, or of its response: path.h.
  Path path(bool response) const;

  // Minimum bandwidth in the direction of the data; 0: none. `inner`: without the edge to the memory (§4).
  double read_bw = 0, write_bw = 0;
  double read_inner_bw = 0, write_inner_bw = 0;

  /// Cache of zero-load latencies by their arguments, because most transactions of a route are equal.
  struct Worked {
    bool write = false;
    uint64_t nbytes = 0, phase = 0;  ///< nbytes 0: empty
    Rows rows;
    ZeroLoad time;
  };
  mutable std::vector<Worked> worked;
};

/// Sets the members that follow from the hops: bandwidths, and `known`.
void measure(Route&);

/// Ranges in one memory, in order: the contents of one transaction.
struct RangeGroup {
  uint64_t address = 0;  ///< of the first range
  uint64_t nbytes = 0;   ///< of all ranges
  std::vector<AccessRange> ranges;
  /// A list with one range is a row.
  Rows rows() const {
    Rows r{ranges.size(), ranges.front().nbytes, 0};
    if (ranges.size() > 1) r.ranges = &ranges;
    return r;
  }
};
class RouteSource;
/// Groups ranges (access rules §16) in the order in which they are added. A range that begins where the previous one
/// ends is merged with it. A range beyond the end of a memory is cut there. Groups are ordered by the first access to
/// their memories.
class RangeGrouping {
 public:
  /// For accesses of the block `initiator`. `write`: as in RouteSource::route(). `expected`: number of ranges that will
  /// probably lie in the first one's memory.
  RangeGrouping(RouteSource& routes, uint32_t initiator, bool write, size_t expected = 0)
      : routes_(routes), initiator_(initiator), write_(write), expected_(expected) {}
  /// AccessError for an address without a memory.
  void add(uint64_t address, uint64_t nbytes) {
    // Usually the memory of the previous range.
    if (address - base_ < size_ && nbytes <= size_ - (address - base_)) return add_here(address, nbytes);
    add_elsewhere(address, nbytes);
  }
  std::vector<RangeGroup> take() { return std::move(groups_); }
  /// The group with the range that was added at an address, and the route to its memory.
  size_t group_of(uint64_t address) const;
  const Route& route_of(size_t group) const { return *memories_[group]; }

 private:
  void add_elsewhere(uint64_t address, uint64_t nbytes);
  /// Adds to the group of the last memory, which contains the range.
  void add_here(uint64_t address, uint64_t nbytes) {
    RangeGroup& g = groups_[last_];
    if (address == end_ && end_ != base_) {
      g.ranges.back().nbytes += nbytes;
    } else {
      g.ranges.push_back({address - g.address, nbytes});
    }
    g.nbytes += nbytes;
    end_ = address + nbytes;
  }
  RouteSource& routes_;
  const uint32_t initiator_;
  const bool write_;
  const size_t expected_;
  uint64_t base_ = 0, size_ = 0;  ///< memory of the previous range; size 0: none
  uint64_t end_ = 0;              ///< its end; if it equals base_, that range was in another memory
  std::vector<RangeGroup> groups_;
  std::vector<const Route*> memories_;  ///< by group
  size_t last_ = 0;                     ///< index of the last group
  mutable size_t found_ = 0;            ///< last result of group_of()
};

/// Maps the port before a foreign block to the port behind it.
using PassedBy = std::map<const FabricPort*, FabricPort*>;
/// A path between two blocks over connected routers, with the fewest hops. AccessError if there is none.
std::vector<Hop> fewest_hops(FabricNode& from, FabricNode& to, const PassedBy& = {});

/// Resolves addresses: for a platform, or for blocks made by hand (address_map.h).
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  /// The route from a block (its index) to the memory with all of [address, address + nbytes). AccessError if there is
  /// none.
  virtual const Route& route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) = 0;
  /// The route from a block to another one that accepts messages (a pe_dma), and its reversed path. AccessError, with
  /// both ends, if there is none.
  virtual const Route& message_route(uint32_t from, uint32_t to) = 0;
  virtual const Route& reversed_message_route(uint32_t from, uint32_t to) = 0;
};

}  // namespace kernbench::fabric
