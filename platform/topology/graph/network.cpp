// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/graph/network.h"

namespace kernbench::topology {

uint32_t Network::Axis::next(uint32_t from, uint32_t to) const {
  const uint32_t above = (to + size - from) % size;  // steps upwards, around the end
  const bool up = flow == Flow::both ? (wraps ? 2 * above <= size : to > from) : flow == Flow::up;
  return up ? (from + 1) % size : (from + size - 1) % size;
}

std::vector<uint32_t> Network::way(uint32_t from, uint32_t to) const {
  uint32_t at[2] = {from % axes[0].size, from / axes[0].size};
  const uint32_t end[2] = {to % axes[0].size, to / axes[0].size};
  std::vector<uint32_t> places{from};
  for (const uint32_t axis : {first, 1 - first}) {
    while (at[axis] != end[axis]) {
      at[axis] = axes[axis].next(at[axis], end[axis]);
      places.push_back(place(at[0], at[1]));
    }
  }
  return places;
}

}  // namespace kernbench::topology
