// SPDX-License-Identifier: Apache-2.0
// The routes of a platform's memory traffic: addresses to memories, and the shortest paths between them (timing rules
// §1) as ports of the blocks. Resolved once, on demand.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "kernbench/platform/elaborate/elaboration.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/fabric/route.h"

namespace kernbench {
namespace topology {
class PathRouter;
}

}  // namespace kernbench
namespace kernbench::elaborate {
class Routes : public RouteSource {
 public:
  Routes(const topology::Graph& graph, const Elaboration& blocks, const Fabric& fabric);
  ~Routes() override;

  const Route& route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) override;
  const Route& message_route(uint32_t from, uint32_t to) override;
  const Route& reversed_message_route(uint32_t from, uint32_t to) override;
  /// A route like message_route()'s, for cost queries; it is not stored. AccessError likewise.
  Route find_message_way(uint32_t from, uint32_t to) { return find_way(from, to, false); }
  /// Shortest paths as the timing rules define them, in both directions; errors as topology::RouteError.
  topology::PathRouter& paths() { return *paths_; }

  /// Declares that all routes have been requested: route() throws std::logic_error for new ones. If all traffic is
  /// known, more can be reserved early. Call it before the simulation. No effect if user-defined routers choose paths.
  void close();

 private:
  std::unique_ptr<Route> make_route(uint32_t initiator, uint32_t memory);
  const Route& message_way(uint32_t from, uint32_t to, bool reversed);
  Route find_way(uint32_t from, uint32_t to, bool reversed);
  void require_way_back(uint32_t initiator, const topology::Memory&);

  const topology::Graph& graph_;
  const Elaboration& blocks_;
  const Fabric& fabric_;
  const std::unique_ptr<topology::PathRouter> paths_;
  std::unordered_map<uint64_t, std::unique_ptr<Route>> routes_;               // initiator << 32 | memory
  std::unordered_map<uint64_t, std::unique_ptr<Route>> messages_, reversed_;  // from << 32 | to
  std::vector<const Route*> last_;                                            // by initiator: the last requested route
  bool closed_ = false;
};

}  // namespace kernbench::elaborate
