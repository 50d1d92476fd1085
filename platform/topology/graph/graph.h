// SPDX-License-Identifier: Apache-2.0
// The compiled topology: a flat directed graph (timing rules §1). Plain C++, no SystemC.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/platform/topology/graph/network.h"
#include "kernbench/systemc_models/core/impl_catalog.h"
#include "kernbench/systemc_models/core/links.h"

namespace kernbench::energy {
class EnergyTable;
}

namespace kernbench::topology {

/// Position on the floorplan, mm; for views only, timing uses the edges' distances.
struct Position {
  double x_mm = 0, y_mm = 0;
};

struct Node {
  std::string id;    ///< "sip0.cube3.r1c4"
  std::string kind;  ///< "router"
  std::string impl;  ///< "builtin.router"
  bool transit = false;
  bool initiator = false;  ///< issues memory transactions
  std::string space;       ///< of the memory in nodes of its kind: "hbm", "sram", another name, or none
  Attributes attrs;        ///< as given, without defaults
  int line = 0;            ///< in the YAML, from 1; 0: not in it
  std::optional<Position> position;
};

struct Edge {
  uint32_t from = 0, to = 0;  ///< indices into Graph::nodes
  std::string kind = "link";
  double distance_mm = 0;
  std::optional<double> bw_gbs;  ///< none: unlimited
  int line = 0;
  /// Its length in routing: rounded to nanometres (timing rules §1).
  int64_t nm() const { return std::llround(distance_mm * 1e6); }
};

struct Memory {
  uint32_t node = 0;
  std::string space;  ///< "hbm", "sram", or a user-defined name
  uint64_t base = 0, size = 0;
  int line = 0;
};

using kernbench::Links;
using kernbench::name_of;
using kernbench::Response;

struct Timing {
  Links links;
  Response response = Response::ideal;
  double header_bytes = 0;
  uint32_t flit_bytes = 256;
  uint32_t packet_flits =
      0;  ///< maximal data bytes after each header; 0: one header per message, none beside flits of data
  /// With finite buffers: refuse a system whose routes may wait for each other in a cycle (channel_dependencies.h).
  bool prove_deadlock_free = true;
};

/// Blocks of one PE: nodes that share the id prefix before the last dot.
struct Pe {
  std::string id;                                    ///< "sip0.cube0.pe0"
  std::unordered_map<std::string, uint32_t> blocks;  ///< kind -> node index
};

/// Grids of cubes in a SIP and of SIPs on the tray; unknown for flat files.
struct Floor {
  uint32_t cubes_w = 0, cubes_h = 0;  ///< 0: unknown
  uint32_t sips_w = 0, sips_h = 0;
  std::string tray_shape = "none";  ///< none, ring_1d, torus_2d, mesh_2d_no_wrap
};

/// `materialize`: when Phase 2's values are computed in Phase 1 (data rules §1).
enum class Materialize : uint8_t {
  none,
  outputs,  ///< for external reads, and at a job's end for foreign memories
  stores,   ///< also at each submission of a command that writes memory
};
inline const char* name_of(Materialize m) {
  return m == Materialize::none ? "none" : m == Materialize::outputs ? "outputs" : "stores";
}

struct Graph {
  std::string name;  ///< of the file, without folder
  double ns_per_mm = 0.01;
  Timing timing;
  Materialize materialize = Materialize::none;
  std::vector<Node> nodes;  ///< in compiled order
  std::vector<Edge> edges;  ///< in compiled order
  std::vector<Memory> memories;
  std::vector<Network> networks;
  /// The `energy:` section; null: none (docs/energy.md).
  std::shared_ptr<const energy::EnergyTable> energy;

  /// Edges between the blocks of PEs.
  PeKindEdges pe_edges;

  Floor floor;
  std::vector<Pe> pes;                                 ///< every PE with at least a pe_dma, in compiled order
  std::unordered_map<std::string, uint32_t> index_of;  ///< node id -> index
  std::vector<std::vector<uint32_t>> out_edges;        ///< per node, edge indices in compiled order

  /// Capacity of each virtual channel at a node's inputs, flits; 0: unlimited.
  uint32_t buffer_flits(uint32_t node) const {
    return static_cast<uint32_t>(nodes[node].attrs.integer("buffer_flits", 0));
  }
  /// Number of virtual channels at each input, for each class.
  uint32_t virtual_channels(uint32_t node) const { return static_cast<uint32_t>(nodes[node].attrs.integer("vcs", 1)); }
  /// Whether any node has limited buffers.
  bool has_finite_buffers() const;
  /// Effective bandwidth of an edge (timing rules §1), GB/s; 0 if unlimited.
  double effective_bw(uint32_t edge) const;
  /// The memory that holds the address, or null. O(log memories).
  const Memory* memory_at(uint64_t addr) const;
  /// The network of a router, if any.
  NetworkPlace network_place(uint32_t node) const {
    return node < network_places_.size() ? network_places_[node] : NetworkPlace{};
  }
  bool in_one_network(uint32_t a, uint32_t b) const {
    const uint32_t network = network_place(a).network;
    return network != NetworkPlace::kNone && network == network_place(b).network;
  }
  /// Fills pes, out_edges and the address map; called by the compiler.
  void finish();

 private:
  std::vector<uint32_t> memories_by_base_;
  std::vector<double> efficiency_;            // per node
  std::vector<NetworkPlace> network_places_;  // per node; empty without networks
};

}  // namespace kernbench::topology
