// SPDX-License-Identifier: Apache-2.0
// Memory accesses, and messages between PEs, block by block: what recordings are made of.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_observer.h"

namespace kernbench {
class Platform;
}

namespace kernbench::observe {

/// A message at a block on its way. Times in ns. The link behind it takes the next hop's start less end_ns: the wire,
/// in flit mode the first flit's transfer too (ADR-0020 D2).
struct AccessHop {
  static constexpr uint32_t kNoEdge = ~0u;
  uint32_t node = 0;
  uint32_t edge = kNoEdge;  ///< by which it leaves; kNoEdge: here it ends
  bool response = false;    ///< what leaves here; of the last hop: what has come
  double start_ns = 0;      ///< its header (in flit mode: its first flit) is here
  double ready_ns = 0;      ///< is ready to leave: what the block itself takes is over
  double end_ns = 0;        ///< takes the link; here it ends: all is done
  double tail_ns = 0;       ///< the link is free again
  double bytes = 0;         ///< over the link, header included
};

class AccessHops : public FabricObserver {
 public:
  /// Attaches to all blocks and links; before the simulation starts, or while nothing is under way.
  explicit AccessHops(Platform&);
  ~AccessHops() override;
  AccessHops(const AccessHops&) = delete;
  AccessHops& operator=(const AccessHops&) = delete;

  void link_crossed(const FabricTransaction&, const Link&, const LinkCrossing&) override;
  void access_started(const Component&, const FabricTransaction&, double t) override;
  void access_done(const Component&, const FabricTransaction&, double t) override;
  void branched(const FabricTransaction& from, const FabricTransaction& branch, uint32_t flit) override;
  void post_started(const Component&, const FabricTransaction&, double t) override;
  void post_done(const Component&, const FabricTransaction&, double t) override;

 protected:
  using Hops = std::vector<AccessHop>;
  /// An access, or with x.message a message, was granted at t. Its number: from 1, in order of grants.
  virtual void started(const Component& /*initiator*/, const FabricTransaction&, uint64_t /*number*/, double /*t*/) {}
  /// It is done. `hops` begins at the initiator; the first starts at the grant, and the last ends at t. Of a multicast,
  /// the hops of its first destination, then for each other one those behind the fork where it leaves; each of these
  /// parts ends with a hop without an edge.
  virtual void done(const FabricTransaction&, uint64_t number, const Hops&, double t) = 0;

  Platform& platform_;

 private:
  struct Access {
    uint64_t number = 0;
    double arrive_ns = 0;  ///< at the next block
    Hops hops;
  };
  void begin(const Component&, const FabricTransaction&, double t);
  void end(const FabricTransaction&, double t);
  void arrive(const FabricTransaction&, Access&, double t);

  std::unordered_map<const FabricTransaction*, Access> under_way_;
  std::vector<Hops> idle_;  ///< memory of lists that are done with
  uint64_t last_number_ = 0;
};

}  // namespace kernbench::observe
