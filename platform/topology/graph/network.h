// SPDX-License-Identifier: Apache-2.0
// A network of routers on a grid whose messages go by a rule of its own, dimension by dimension, instead of by shortest
// ways (docs/topology.md). Responses go by the same rule: on a ring of one direction an answer goes on round it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernbench::topology {

struct Network {
  /// Which way messages go along an axis: both, towards greater or towards smaller places.
  enum class Flow : uint8_t { both, up, down };
  struct Axis {
    uint32_t size = 1;
    Flow flow = Flow::both;
    bool wraps = false;  ///< its ends are joined
    /// The place that a message goes to next on its way to another. Of both ways round the shorter; of equals up.
    uint32_t next(uint32_t from, uint32_t to) const;
  };
  std::string id;
  Axis axes[2];                   ///< of columns (x), of rows (y)
  uint32_t first = 0;             ///< the axis along which messages go first
  std::vector<uint32_t> routers;  ///< nodes, row by row

  uint32_t place(uint32_t x, uint32_t y) const { return y * axes[0].size + x; }
  /// Places on the way from one to another, both with it.
  std::vector<uint32_t> way(uint32_t from, uint32_t to) const;
};

/// Which network a node is a router of, and where.
struct NetworkPlace {
  static constexpr uint32_t kNone = ~0u;
  uint32_t network = kNone, place = 0;
};

}  // namespace kernbench::topology
