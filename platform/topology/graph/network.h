// SPDX-License-Identifier: Apache-2.0
// A network of routers on a grid with its own routing rule: dimension by dimension, not by shortest paths
// (docs/topology.md). Responses follow the same rule, so on a unidirectional ring they continue around it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernbench::topology {

struct Network {
  /// Direction of messages along an axis: both, increasing, or decreasing.
  enum class Flow : uint8_t { both, up, down };
  struct Axis {
    uint32_t size = 1;
    Flow flow = Flow::both;
    bool wraps = false;  ///< its ends are connected
    /// The next position on the path to another one. If both directions are allowed, the shorter one; for equal lengths
    /// upwards.
    uint32_t next(uint32_t from, uint32_t to) const;
  };
  std::string id;
  Axis axes[2];                   ///< of columns (x), of rows (y)
  uint32_t first = 0;             ///< the axis of the first part of each path
  std::vector<uint32_t> routers;  ///< nodes, row by row

  uint32_t place(uint32_t x, uint32_t y) const { return y * axes[0].size + x; }
  /// Positions on the path between two positions, including both.
  std::vector<uint32_t> way(uint32_t from, uint32_t to) const;
};

/// The network of a router, and its position in it.
struct NetworkPlace {
  static constexpr uint32_t kNone = ~0u;
  uint32_t network = kNone, place = 0;
};

}  // namespace kernbench::topology
