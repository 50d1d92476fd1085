// SPDX-License-Identifier: Apache-2.0
// Memory accesses and messages between PEs, hop by hop, as input of recordings.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_observer.h"

namespace kernbench {
class Platform;
}

namespace kernbench::observe {

/// A message at one block of its path. Times in ns. The outgoing link takes from end_ns to the next hop's start: wire
/// delay and, in flit mode, the first flit's transfer (ADR-0020 D2).
struct AccessHop {
  static constexpr uint32_t kNoEdge = ~0u;
  uint32_t node = 0;
  uint32_t edge = kNoEdge;  ///< outgoing edge; kNoEdge at the last hop
  bool response = false;    ///< direction of the outgoing message; at the last hop, of the incoming one
  double start_ns = 0;      ///< arrival of the header (in flit mode: of the first flit)
  double ready_ns = 0;      ///< ready to leave: the block's own delay is over
  double end_ns = 0;        ///< takes the link; at the last hop: everything is done
  double tail_ns = 0;       ///< the link is free again
  double bytes = 0;         ///< on the link, with header
};

class AccessHops : public FabricObserver {
 public:
  /// Attaches to all blocks and links. Call it before the simulation starts or while no access is in progress.
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
  /// An access (x.message: a message) was granted at t. Returns its number: from 1, in order of grants.
  virtual void started(const Component& /*initiator*/, const FabricTransaction&, uint64_t /*number*/, double /*t*/) {}
  /// The access is done. `hops` starts at the initiator; the first hop starts at the grant, the last ends at t. For a
  /// multicast: the hops of the first destination, then for each other destination the hops from its fork on. Each of
  /// these parts ends with a hop without an edge.
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
  std::vector<Hops> idle_;  ///< memory of finished lists, for reuse
  uint64_t last_number_ = 0;
};

}  // namespace kernbench::observe
