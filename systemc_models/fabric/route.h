// SPDX-License-Identifier: Apache-2.0
// The way from an initiator to a memory, resolved once, and what a transaction takes on it alone.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench::fabric {

class FabricNode;
class MemoryTarget;

/// An access that the system cannot serve: no memory there, or no way to it. One line.
class AccessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A transaction alone in an idle system (timing rules §2). ns.
struct ZeroLoad {
  double latency_ns = 0;        ///< from the grant to done
  double service_ns = 0;        ///< at the memory, from arrival to finish (not in flit mode)
  double store_forward_ns = 0;  ///< waited for the rest of the data at nodes that store and forward
};

class Path;

struct Route {
  MemoryTarget* target = nullptr;  ///< null: a foreign memory, bound without an adapter, or the way of messages
  uint64_t base = 0, size = 0;     ///< of the memory
  bool returns = false;            ///< every edge has an edge back
  /// No foreign block on the way: then the zero-load latency is known.
  bool known = true;
  std::vector<Hop> hops;
  /// Of responses whose way is not the hops back: numbered from the initiator on, as the hops are; else empty.
  std::vector<Hop> own_back;
  const std::vector<Hop>& way_back() const { return own_back.empty() ? hops : own_back; }
  /// The hops of a request, or of its response: path.h.
  Path path(bool response) const;

  // Least bandwidth in the direction of the data; 0: none. `inner`: without the edge to the memory (§4).
  double read_bw = 0, write_bw = 0;
  double read_inner_bw = 0, write_inner_bw = 0;

  /// Lone times that have been worked out, by what they depend on: most transactions of a route are alike.
  struct Worked {
    bool write = false;
    uint64_t nbytes = 0, phase = 0;  ///< nbytes 0: none yet
    Rows rows;
    ZeroLoad time;
  };
  mutable std::vector<Worked> worked;
};

/// Sets what follows from the hops: bandwidths, and whether all is known.
void measure(Route&);

/// Ranges that lie in one memory, in their order: what one transaction moves.
struct RangeGroup {
  uint64_t address = 0;  ///< of the first
  uint64_t nbytes = 0;   ///< of all
  std::vector<AccessRange> ranges;
  /// A list of one is a row.
  Rows rows() const {
    Rows r{ranges.size(), ranges.front().nbytes, 0};
    if (ranges.size() > 1) r.ranges = &ranges;
    return r;
  }
};
class RouteSource;
/// Puts ranges together (access rules §16), in the order in which they are added: a neighbour that begins where the
/// one before it ends belongs to it; what runs over the end of a memory is cut there; groups are in the order in which
/// their memories are touched first.
class RangeGrouping {
 public:
  /// Of accesses from the block `initiator`; `write`: as RouteSource::route().
  /// `expected`: how many ranges will mostly lie in the first one's memory.
  RangeGrouping(RouteSource& routes, uint32_t initiator, bool write, size_t expected = 0)
      : routes_(routes), initiator_(initiator), write_(write), expected_(expected) {}
  /// AccessError where no memory is.
  void add(uint64_t address, uint64_t nbytes) {
    // Mostly of the memory of the one before.
    if (address - base_ < size_ && nbytes <= size_ - (address - base_)) return add_here(address, nbytes);
    add_elsewhere(address, nbytes);
  }
  std::vector<RangeGroup> take() { return std::move(groups_); }
  /// The group that holds what was added at an address, and the route to its memory.
  size_t group_of(uint64_t address) const;
  const Route& route_of(size_t group) const { return *memories_[group]; }

 private:
  void add_elsewhere(uint64_t address, uint64_t nbytes);
  /// To the group of the memory that was asked for last, which holds it.
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
  uint64_t base_ = 0, size_ = 0;  ///< of the memory of the range before; size 0: none yet
  uint64_t end_ = 0;              ///< of that range; base_: the memory is another one's, too
  std::vector<RangeGroup> groups_;
  std::vector<const Route*> memories_;  ///< by group
  size_t last_ = 0;                     ///< that was added to
  mutable size_t found_ = 0;            ///< that group_of() gave
};

/// The port that comes behind a foreign block, by the one before it.
using PassedBy = std::map<const FabricPort*, FabricPort*>;
/// From one block to another over routers that are connected, with as few hops as can be; AccessError where there is
/// none.
std::vector<Hop> fewest_hops(FabricNode& from, FabricNode& to, const PassedBy& = {});

/// Resolves addresses; a platform's, or of blocks made by hand (address_map.h).
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  /// The route from a block (its index) to the memory that holds all of [address, address + nbytes). AccessError where
  /// there is none.
  virtual const Route& route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) = 0;
  /// The route from a block to another that takes messages (a pe_dma), and its reversed path, which leads back from
  /// there. AccessError, which names both ends, where there is none.
  virtual const Route& message_route(uint32_t from, uint32_t to) = 0;
  virtual const Route& reversed_message_route(uint32_t from, uint32_t to) = 0;
};

}  // namespace kernbench::fabric
