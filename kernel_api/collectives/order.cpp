// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/order.h"

#include <map>

#include "kernbench/kernel_api/collectives/flows.h"

namespace kernbench::ccl {
namespace {

/// Values by PE of the launch.
using Own = std::function<Values(int64_t)>;

Values at_root(const Phase& p, const Own& own, const Combine& combine) {
  std::map<std::pair<int64_t, std::string>, int64_t> peer;
  for (const Wire& w : wires_of(p)) {
    peer[{w.from, w.port}] = w.to;
    peer[{w.to, w.peer_port}] = w.from;
  }
  const std::function<Values(int64_t)> at = [&](int64_t member) {
    Values sum = own(p.pes[static_cast<size_t>(member)]);
    for (const std::string& port : reduce_flow(p, member).from) sum = combine(sum, at(peer.at({member, port})));
    return sum;
  };
  return at(p.root);
}

Values in_order_of(const Members& pes, const Own& own, const Combine& combine) {
  Values sum = own(pes.front());
  for (size_t m = 1; m < pes.size(); ++m) sum = combine(sum, own(pes[m]));
  return sum;
}

/// Around the ring from the position after the block's to the block's own.
Values around_ring(const Phase& p, int64_t block, const Own& own, const Combine& combine) {
  const int64_t n = p.size(), at = position_of(p.order, block);
  const auto pe = [&](int64_t step) {
    return p.pes[static_cast<size_t>(p.order[static_cast<size_t>((at + step) % n)])];
  };
  Values sum = own(pe(1));
  for (int64_t step = 2; step <= n; ++step) sum = combine(own(pe(step)), sum);
  return sum;
}

Values by_halves(const Phase& p, int64_t block, const Own& own, const Combine& combine) {
  std::vector<Values> held;
  for (const int64_t pe : p.pes) held.push_back(own(pe));
  for (int b = log2_up(p.size()) - 1; b >= 0; --b) {
    const std::vector<Values> before = held;
    for (size_t i = 0; i < held.size(); ++i) held[i] = combine(before[i], before[i ^ (size_t{1} << b)]);
  }
  return held[static_cast<size_t>(block)];
}

Values exchanged(const Phase& p, const Own& own, const Combine& combine) {
  if (p.kind == Phase::Kind::ring) return in_order_of(p.pes, own, combine);
  if (p.kind == Phase::Kind::grid) return at_root(p, own, combine);
  std::vector<Values> rows;
  for (int64_t y = 0; y < p.grid.h; ++y) {
    const auto first = p.pes.begin() + y * p.grid.w;
    rows.push_back(in_order_of(Members(first, first + p.grid.w), own, combine));
  }
  Values sum = rows.front();
  for (size_t y = 1; y < rows.size(); ++y) sum = combine(sum, rows[y]);
  return sum;
}

Values hierarchical(const Group& g, const Own& own, const Combine& combine) {
  std::map<int64_t, Values> left;  // by PE
  for (const int64_t pe : g.pes) left[pe] = own(pe);
  const Own now = [&](int64_t pe) { return left.at(pe); };
  for (const auto* level : {&g.inner, &g.cubes}) {
    for (const Phase& p : *level) left[p.pes[static_cast<size_t>(p.root)]] = at_root(p, now, combine);
  }
  if (!g.ranks.empty()) return exchanged(g.ranks.front(), now, combine);
  const Phase& last = g.cubes.empty() ? g.inner.front() : g.cubes.front();
  return left.at(last.pes[static_cast<size_t>(last.root)]);
}

}  // namespace

Values reduced_in_order(const Group& g, int64_t block, const Own& own, const Combine& combine) {
  if (g.hierarchical()) return hierarchical(g, own, combine);
  const Phase& p = g.single.front();
  const std::string& algorithm = g.collective.algorithm;
  if (algorithm == "rotate" || algorithm == "in_network" || p.size() == 1) return in_order_of(p.pes, own, combine);
  if (p.kind == Phase::Kind::ring) return around_ring(p, block, own, combine);
  if (p.kind == Phase::Kind::halving) return by_halves(p, block, own, combine);
  return at_root(p, own, combine);
}

}  // namespace kernbench::ccl
