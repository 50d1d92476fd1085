// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/flows.h"

#include <algorithm>

namespace kernbench::ccl {
namespace {

Flow tree_reduce(const Phase& p, int64_t member) {
  const int64_t n = p.size(), j = (member - p.root + n) % n;
  Flow f;
  for (int b = 0; (int64_t{1} << b) < n; ++b) {
    const std::string port = "t" + std::to_string(b);
    if ((j >> b & 1) != 0) {
      f.to = {port};
      break;
    }
    if (j + (int64_t{1} << b) < n) f.from.push_back(port);
  }
  return f;
}

Flow chain_reduce(const Phase& p, int64_t member) {
  const int64_t n = p.size();
  const int64_t q = (position_of(p.order, member) - position_of(p.order, p.root) + n) % n;
  Flow f;
  if (q + 1 < n) f.from = {"next"};
  if (q > 0) f.to = {"prev"};
  return f;
}

/// First along rows to the root's column, then along the column to the root.
Flow grid_reduce(const Phase& p, int64_t member) {
  const int64_t x = p.grid.x(member), y = p.grid.y(member), rx = p.grid.x(p.root), ry = p.grid.y(p.root);
  Flow f;
  if (x <= rx && x > 0) f.from.emplace_back("W");
  if (x >= rx && x + 1 < p.grid.w) f.from.emplace_back("E");
  if (x != rx) {
    f.to = {x < rx ? "E" : "W"};
    return f;
  }
  if (y <= ry && y > 0) f.from.emplace_back("N");
  if (y >= ry && y + 1 < p.grid.h) f.from.emplace_back("S");
  if (y != ry) f.to = {y < ry ? "S" : "N"};
  return f;
}

/// The column first: a broadcast begins with the ports that a reduction uses last, but keeps N before S and W before E.
Flow grid_broadcast(const Phase& p, int64_t member) {
  const Flow in = grid_reduce(p, member);
  Flow f;
  f.from = in.to;
  for (const bool column : {true, false}) {
    for (const std::string& port : in.from) {
      if ((port == "N" || port == "S") == column) f.to.push_back(port);
    }
  }
  return f;
}

}  // namespace

Flow reduce_flow(const Phase& p, int64_t member) {
  if (p.kind == Phase::Kind::tree) return tree_reduce(p, member);
  return p.kind == Phase::Kind::chain ? chain_reduce(p, member) : grid_reduce(p, member);
}

Flow broadcast_flow(const Phase& p, int64_t member) {
  if (p.kind == Phase::Kind::grid) return grid_broadcast(p, member);
  Flow f = reduce_flow(p, member);
  std::swap(f.from, f.to);
  std::reverse(f.to.begin(), f.to.end());  // the tree's largest part first
  return f;
}

tl::Tensor flow_reduce(const Lane& lane, const Phase& p, int64_t member, const tl::Tensor& t, const std::string& op) {
  const Flow f = reduce_flow(p, member);
  tl::Tensor sum = t;
  for (const std::string& port : f.from) {
    const tl::Tensor came = lane.recv(port, t.elements(), t.dtype());
    sum = lane.combine(op, sum, came);
  }
  if (f.to.empty()) return sum;
  lane.send(f.to.front(), sum);
  return {};
}

tl::Tensor flow_broadcast(const Lane& lane, const Phase& p, int64_t member, const tl::Tensor& t, int64_t n, DType dtype,
                          const Final& final) {
  const Flow f = broadcast_flow(p, member);
  const tl::Tensor value = f.from.empty() ? t : lane.recv(f.from.front(), n, dtype);
  for (const std::string& port : f.to) lane.send(port, value);
  lane.finish(final, 0, value);
  return value;
}

tl::Tensor rotate(const Lane& lane, const std::vector<int64_t>& order, int64_t member, const tl::Tensor& t,
                  const std::string& op, const std::string& next, const std::string& prev) {
  const auto n = static_cast<int64_t>(order.size());
  if (n <= 1) return t;
  const int64_t position = position_of(order, member);
  std::vector<tl::Tensor> by_member(order.size());
  tl::Tensor held = t;
  by_member[static_cast<size_t>(member)] = held;
  for (int64_t s = 0; s + 1 < n; ++s) {
    lane.send(next, held);
    held = lane.recv(prev, t.elements(), t.dtype());
    by_member[static_cast<size_t>(order[static_cast<size_t>((position - s - 1 + n) % n)])] = held;
  }
  tl::Tensor sum = by_member.front();
  for (size_t m = 1; m < by_member.size(); ++m) sum = lane.combine(op, sum, by_member[m]);
  return sum;
}

namespace {

std::vector<int64_t> in_order(int64_t n) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(i);
  return order;
}

/// The values of all ranks, on all ranks.
tl::Tensor exchange(const Lane& lane, const Phase& p, int64_t member, const tl::Tensor& t, const std::string& op) {
  if (p.kind == Phase::Kind::ring) return rotate(lane, p.order, member, t, op, "next", "prev");
  if (p.kind == Phase::Kind::grid) {
    const tl::Tensor sum = flow_reduce(lane, p, member, t, op);
    return flow_broadcast(lane, p, member, sum, t.elements(), t.dtype(), {});
  }
  const tl::Tensor row = rotate(lane, in_order(p.grid.w), p.grid.x(member), t, op, "E", "W");
  return rotate(lane, in_order(p.grid.h), p.grid.y(member), row, op, "S", "N");
}

}  // namespace

tl::Tensor hierarchical_all_reduce(tl::Context& tl, const Group& g, const tl::Tensor& t, const std::string& op,
                                   const Final& final) {
  const int64_t pe = tl.index();
  tl::Tensor value = t;
  // Inwards, as long as this PE takes part; then outwards along the same path.
  std::vector<const Phase*> way;
  for (const auto* level : {&g.inner, &g.cubes}) {
    if (level->empty() || !value.valid()) continue;
    const Phase& p = level->front();
    value = flow_reduce(Lane{tl, p.prefix}, p, member_of(p.pes, pe), value, op);
    way.push_back(&p);
  }
  if (value.valid() && !g.ranks.empty()) {
    const Phase& p = g.ranks.front();
    value = exchange(Lane{tl, p.prefix}, p, member_of(p.pes, pe), value, op);
  }
  for (auto p = way.rbegin(); p != way.rend(); ++p) {
    const bool last = p + 1 == way.rend();
    value = flow_broadcast(Lane{tl, (*p)->prefix}, **p, member_of((*p)->pes, pe), value, t.elements(), t.dtype(),
                           last ? final : Final());
  }
  if (way.empty()) Lane{tl, {}}.finish(final, 0, value);
  return value;
}

}  // namespace kernbench::ccl
