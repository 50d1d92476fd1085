// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/wirings.h"

#include <algorithm>

namespace kernbench::ccl {
namespace {

Wires rows_and_columns(const Grid& g, bool columns, bool wrap) {
  Wires wires;
  for (int64_t i = 0; i < g.cells(); ++i) {
    const int64_t x = g.x(i), y = g.y(i);
    if (x + 1 < g.w || (wrap && g.w > 1)) wires.push_back({i, "E", g.cell((x + 1) % g.w, y), "W"});
    if (columns && (y + 1 < g.h || (wrap && g.h > 1))) wires.push_back({i, "S", g.cell(x, (y + 1) % g.h), "N"});
  }
  return wires;
}

}  // namespace

Wires line_wiring(const Grid& g) {
  return rows_and_columns(g, false, false);
}

Wires grid_wiring(const Grid& g) {
  return rows_and_columns(g, true, false);
}

Wires torus_wiring(const Grid& g) {
  return rows_and_columns(g, true, true);
}

Wires ring_wiring(const std::vector<int64_t>& order) {
  const auto n = static_cast<int64_t>(order.size());
  Wires wires;
  for (int64_t i = 0; n > 1 && i < n; ++i) {
    const int64_t p = position_of(order, i);
    wires.push_back({i, "next", order[static_cast<size_t>((p + 1) % n)], "prev"});
  }
  return wires;
}

Wires chain_wiring(const std::vector<int64_t>& order, int64_t root) {
  Wires wires = ring_wiring(order);
  wires.erase(std::remove_if(wires.begin(), wires.end(), [&](const Wire& w) { return w.to == root; }), wires.end());
  return wires;
}

Wires halving_wiring(int64_t n) {
  Wires wires;
  for (int64_t i = 0; i < n; ++i) {
    for (int b = 0; (int64_t{1} << b) < n; ++b) {
      const int64_t j = i ^ (int64_t{1} << b);
      const std::string port = "x" + std::to_string(b);
      if (i < j) wires.push_back({i, port, j, port});
    }
  }
  return wires;
}

Wires tree_wiring(int64_t n, int64_t root) {
  Wires wires;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t j = (i - root + n) % n;
    for (int b = 0; j + (int64_t{1} << b) < n && j % (int64_t{2} << b) == 0; ++b) {
      const std::string port = "t" + std::to_string(b);
      wires.push_back({i, port, (i + (int64_t{1} << b)) % n, port});
    }
  }
  return wires;
}

Wires all_wiring(int64_t n) {
  Wires wires;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) wires.push_back({i, "to" + std::to_string(j), j, "to" + std::to_string(i)});
  }
  return wires;
}

Wires heap_wiring(int64_t n) {
  Wires wires;
  for (int64_t i = 1; i < n; ++i) wires.push_back({i, "up", (i - 1) / 2, i % 2 == 1 ? "left" : "right"});
  return wires;
}

int log2_up(int64_t n) {
  int q = 0;
  while ((int64_t{1} << q) < n) ++q;
  return q;
}

int64_t position_of(const std::vector<int64_t>& order, int64_t value) {
  return std::find(order.begin(), order.end(), value) - order.begin();
}

}  // namespace kernbench::ccl
