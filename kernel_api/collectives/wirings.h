// SPDX-License-Identifier: Apache-2.0
// Wirings: connections between the members of a group, with their ports (collectives rules §12.3). Plain functions;
// each lists its wires in order of the first member.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/collectives/grids.h"

namespace kernbench::ccl {

/// A connection between two members.
struct Wire {
  int64_t from = 0;
  std::string port;
  int64_t to = 0;
  std::string peer_port;
  bool operator==(const Wire& o) const {
    return from == o.from && port == o.port && to == o.to && peer_port == o.peer_port;
  }
};
using Wires = std::vector<Wire>;

/// W–E between neighbours of a row; grid: also N–S between neighbours of a column. No wrap.
Wires line_wiring(const Grid&);
Wires grid_wiring(const Grid&);
/// A grid with closed rows and columns. A row or column of length 1 is not closed; one of length 2 has two connections.
Wires torus_wiring(const Grid&);
/// `next` of each position to `prev` of the next position. `order`: member by position.
Wires ring_wiring(const std::vector<int64_t>& order);
/// The ring from a member on, without the connection to it from its predecessor.
Wires chain_wiring(const std::vector<int64_t>& order, int64_t root);
/// `x0`, `x1`, … between i and i xor 2^b; n is a power of two.
Wires halving_wiring(int64_t n);
/// `t0`, `t1`, … between j and j + 2^b for j divisible by 2^(b+1), counted from the root: a binomial tree.
Wires tree_wiring(int64_t n, int64_t root);
/// `to3` of member 5 to `to5` of member 3: all-to-all.
Wires all_wiring(int64_t n);
/// `up` of i to `left` or `right` of (i − 1) div 2.
Wires heap_wiring(int64_t n);

/// Whether n is a power of two; ⌈log2 n⌉.
inline bool is_power_of_two(int64_t n) {
  return n > 0 && (n & (n - 1)) == 0;
}
int log2_up(int64_t n);
/// Index of `value` in a list that contains it.
int64_t position_of(const std::vector<int64_t>& order, int64_t value);

}  // namespace kernbench::ccl
