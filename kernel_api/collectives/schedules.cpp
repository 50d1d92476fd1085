// SPDX-License-Identifier: Apache-2.0
// Ring, rotate, halving, pairwise, sendrecv, barrier: schedules that are equal for all members. flows.cpp has those
// along trees and grids.
#include "kernbench/kernel_api/collectives/schedules.h"

#include <algorithm>
#include <limits>
#include <map>

#include "kernbench/kernel_api/assembly.h"
#include "kernbench/kernel_api/collectives/flows.h"
#include "kernbench/kernel_api/collectives/lane.h"

namespace kernbench::ccl {
namespace {

/// A vector of n elements in `count` blocks of ⌈n/count⌉; the last ones have fewer or none.
struct Blocks {
  int64_t n = 0, count = 1;
  int64_t first(int64_t block) const { return std::min(n, block * ((n + count - 1) / count)); }
  /// Number of elements in blocks [from, to).
  int64_t elements(int64_t from, int64_t to) const { return first(to) - first(from); }
  int64_t elements(int64_t block) const { return elements(block, block + 1); }
  /// Blocks [from, to) of the vector, or an invalid tensor if they are empty.
  tl::Tensor piece(const tl::Assembly& of, int64_t from, int64_t to) const {
    const int64_t all = elements(from, to);
    return all > 0 ? of.slice(first(from), all) : tl::Tensor();
  }
  /// Receives a block into its place. An empty block also has a message.
  void receive(tl::Assembly& into, int64_t from, int64_t to, const Lane& lane, const std::string& port) const {
    const int64_t all = elements(from, to);
    const auto recv = [&] { return lane.recv(port, all, into.whole().dtype()); };
    if (all > 0) {
      into.part(first(from), recv);
    } else {
      recv();
    }
  }
};

/// The members of a ring from the view of one member.
class RingPlace {
 public:
  RingPlace(const Phase& ring, int64_t me) : order_(ring.order), at_(position_of(ring.order, me)) {}
  /// The member that many steps behind it.
  int64_t behind(int64_t steps) const {
    const auto n = static_cast<int64_t>(order_.size());
    return order_[static_cast<size_t>(((at_ - steps) % n + n) % n)];
  }

 private:
  const SharedList& order_;
  const int64_t at_;
};

/// The reduction of this member's block. `out`: its destination, or null.
tl::Tensor ring_reduce_scatter(const Lane& lane, const Phase& ring, const Group& g, const tl::Tensor& t,
                               const std::string& op, tl::Assembly* out) {
  const Blocks blocks{t.elements(), g.size()};
  const auto block = [&](int64_t b) {
    return blocks.elements(b) > 0 ? t.slice(0, blocks.first(b), blocks.elements(b)) : tl::Tensor();
  };
  const RingPlace place(ring, g.me);
  tl::Tensor held = block(place.behind(1));
  for (int64_t s = 0; s + 1 < g.size(); ++s) {
    lane.send("next", held);
    const int64_t b = place.behind(s + 2);
    const tl::Tensor came = lane.recv("prev", blocks.elements(b), t.dtype());
    held = {};
    if (!came.valid()) continue;
    const bool last = s + 2 == g.size();
    const auto combine = [&] { return lane.combine(op, block(b), came); };
    held = last && out != nullptr ? out->part(blocks.first(b), combine) : combine();
  }
  return held;
}

/// Sends this member's block, which is in `out`, to all members.
void ring_all_gather(const Lane& lane, const Phase& ring, const Group& g, const Blocks& blocks, tl::Assembly& out,
                     const Final& final) {
  const auto piece = [&](int64_t b) { return blocks.piece(out, b, b + 1); };
  const RingPlace place(ring, g.me);
  int64_t b = g.me;
  for (int64_t s = 0; s + 1 < g.size(); ++s) {
    lane.send("next", piece(b));
    lane.finish(final, blocks.first(b), piece(b));
    b = place.behind(s + 1);
    blocks.receive(out, b, b + 1, lane, "prev");
  }
  lane.finish(final, blocks.first(b), piece(b));
}

tl::Tensor halving_reduce_scatter(const Lane& lane, const Group& g, const tl::Tensor& t, const std::string& op,
                                  tl::Assembly* out) {
  const Blocks blocks{t.elements(), g.size()};
  tl::Tensor held = t;  // blocks [low, low + 2^(b + 1))
  int64_t low = 0;
  for (int b = log2_up(g.size()) - 1; b >= 0; --b) {
    const int64_t half = int64_t{1} << b;
    const bool upper = (g.me & half) != 0;
    const int64_t keep = upper ? low + half : low, give = upper ? low : low + half;
    const auto part = [&](int64_t from) {
      const int64_t count = blocks.elements(from, from + half);
      return count > 0 ? held.slice(0, blocks.first(from) - blocks.first(low), count) : tl::Tensor();
    };
    const std::string port = "x" + std::to_string(b);
    lane.send(port, part(give));
    const tl::Tensor came = lane.recv(port, blocks.elements(keep, keep + half), t.dtype());
    if (came.valid()) {
      const auto combine = [&] { return lane.combine(op, part(keep), came); };
      held = b == 0 && out != nullptr ? out->part(blocks.first(keep), combine) : combine();
    } else {
      held = {};
    }
    low = keep;
  }
  return held;
}

void halving_all_gather(const Lane& lane, const Group& g, const Blocks& blocks, tl::Assembly& out, const Final& final) {
  int64_t fresh = g.me, fresh_end = g.me + 1;  // the blocks received last, not stored yet
  for (int b = 0; (int64_t{1} << b) < g.size(); ++b) {
    const int64_t size = int64_t{1} << b, low = g.me / size * size, other = low ^ size;
    const std::string port = "x" + std::to_string(b);
    lane.send(port, blocks.piece(out, low, low + size));
    lane.finish(final, blocks.first(fresh), blocks.piece(out, fresh, fresh_end));
    blocks.receive(out, other, other + size, lane, port);
    fresh = other;
    fresh_end = other + size;
  }
  lane.finish(final, blocks.first(fresh), blocks.piece(out, fresh, fresh_end));
}

/// All members except one, in order.
std::vector<int64_t> all_but(int64_t me, int64_t members) {
  std::vector<int64_t> others;
  for (int64_t j = 0; j < members; ++j) {
    if (j != me) others.push_back(j);
  }
  return others;
}

void multicast_all_gather(const Lane& lane, const Group& g, const Blocks& blocks, tl::Assembly& out,
                          const Final& final) {
  const auto piece = [&](int64_t b) { return blocks.piece(out, b, b + 1); };
  lane.send_all(all_but(g.me, g.size()), piece(g.me));
  lane.finish(final, blocks.first(g.me), piece(g.me));
  for (int64_t s = 1; s < g.size(); ++s) {
    const int64_t b = (g.me - s + g.size()) % g.size();
    blocks.receive(out, b, b + 1, lane, "to" + std::to_string(b));
    lane.finish(final, blocks.first(b), piece(b));
  }
}

}  // namespace

std::string math_op_of(const std::string& redop) {
  static const std::map<std::string, std::string> ops = {
      {"sum", "add"}, {"max", "maximum"}, {"min", "minimum"}, {"prod", "mul"}};
  const auto it = ops.find(redop);
  if (it == ops.end()) throw BadParam("redop: found '" + redop + "', expected sum, max, min or prod");
  return it->second;
}

namespace {

/// The results of in_network lie in memory, which these schedules do not know.
void require_messages(const Group& g) {
  if (g.collective.algorithm == "in_network")
    throw KernelFault(std::string(name_of(g.collective.op)) + ": algorithm in_network needs ccl::in_network");
}

}  // namespace

tl::Tensor all_reduce(tl::Context& tl, const Group& g, const tl::Tensor& t, const std::string& redop,
                      const Final& final) {
  require_messages(g);
  const std::string op = math_op_of(redop);
  const std::string& algorithm = g.collective.algorithm;
  const tl::Tensor own = t.reshape({t.elements()});
  if (g.hierarchical()) return hierarchical_all_reduce(tl, g, own, op, final);
  const Phase& phase = g.single.front();
  const Lane lane{tl, phase.prefix};
  if (algorithm == "tree" || algorithm == "grid") {
    const tl::Tensor sum = flow_reduce(lane, phase, g.me, own, op);
    return flow_broadcast(lane, phase, g.me, sum, own.elements(), own.dtype(), final);
  }
  if (g.size() == 1 || algorithm == "rotate") {
    const tl::Tensor sum = rotate(lane, phase.order, g.me, own, op, "next", "prev");
    lane.finish(final, 0, sum);
    return sum;
  }
  tl::Assembly out(tl, own.dtype(), own.elements());
  const Blocks blocks{own.elements(), g.size()};
  const bool by_ring = phase.kind == Phase::Kind::ring;
  if (by_ring) {
    ring_reduce_scatter(lane, phase, g, own, op, &out);
  } else {
    halving_reduce_scatter(lane, g, own, op, &out);
  }
  if (algorithm == "multicast") {
    multicast_all_gather(lane, g, blocks, out, final);
  } else if (by_ring) {
    ring_all_gather(lane, phase, g, blocks, out, final);
  } else {
    halving_all_gather(lane, g, blocks, out, final);
  }
  return out.whole();
}

tl::Tensor reduce_scatter(tl::Context& tl, const Group& g, const tl::Tensor& t, const std::string& redop,
                          const Final& final) {
  require_messages(g);
  const Phase& phase = g.single.front();
  const Lane lane{tl, phase.prefix};
  const tl::Tensor own = t.reshape({t.elements()});
  const std::string op = math_op_of(redop);
  const tl::Tensor block = g.size() == 1                      ? own
                           : g.collective.algorithm == "ring" ? ring_reduce_scatter(lane, phase, g, own, op, nullptr)
                                                              : halving_reduce_scatter(lane, g, own, op, nullptr);
  lane.finish(final, Blocks{own.elements(), g.size()}.first(g.me), block);
  return block;
}

tl::Tensor all_gather(tl::Context& tl, const Group& g, int64_t n, DType dtype, const std::function<tl::Tensor()>& own,
                      const Final& final) {
  const Phase& phase = g.single.front();
  const Lane lane{tl, phase.prefix};
  const Blocks blocks{n * g.size(), g.size()};
  tl::Assembly out(tl, dtype, n * g.size());
  out.part(g.me * n, own);
  if (g.collective.algorithm == "ring") {
    ring_all_gather(lane, phase, g, blocks, out, final);
  } else if (g.collective.algorithm == "multicast") {
    multicast_all_gather(lane, g, blocks, out, final);
  } else {
    halving_all_gather(lane, g, blocks, out, final);
  }
  return out.whole();
}

tl::Tensor broadcast(tl::Context& tl, const Group& g, const tl::Tensor& t, int64_t n, DType dtype, const Final& final) {
  const Phase& phase = g.single.front();
  if (g.collective.algorithm == "multicast") {
    const Lane lane{tl, phase.prefix};
    const bool root = g.me == phase.root;
    if (root) lane.send_all(all_but(g.me, g.size()), t.reshape({n}));
    const tl::Tensor value = root ? t.reshape({n}) : lane.recv("to" + std::to_string(phase.root), n, dtype);
    lane.finish(final, 0, value);
    return value;
  }
  return flow_broadcast(Lane{tl, phase.prefix}, phase, g.me, t.valid() ? t.reshape({n}) : t, n, dtype, final);
}

tl::Tensor reduce(tl::Context& tl, const Group& g, const tl::Tensor& t, const std::string& redop, const Final& final) {
  require_messages(g);
  const Phase& phase = g.single.front();
  const Lane lane{tl, phase.prefix};
  const tl::Tensor sum = flow_reduce(lane, phase, g.me, t.reshape({t.elements()}), math_op_of(redop));
  lane.finish(final, 0, sum);
  return sum;
}

std::string red_of(const std::string& redop) {
  return redop == "sum" ? "add" : redop;
}

namespace {

/// The value that changes no other, of a float or a signed integer.
double identity_of(const std::string& redop, DType dtype) {
  if (redop == "sum") return 0;
  const double most = is_float(dtype) ? std::numeric_limits<double>::infinity() : largest_of(dtype);
  return redop == "min" ? most : is_float(dtype) ? -most : -most - 1;
}

/// A barrier of the members over heap_wiring().
void meet(const Lane& lane, int64_t me, int64_t members) {
  const bool left = 2 * me + 1 < members, right = 2 * me + 2 < members;
  tl::Context& tl = lane.tl;
  if (left) tl.recv(lane.prefix + "left");
  if (right) tl.recv(lane.prefix + "right");
  if (me > 0) {
    tl.send(lane.prefix + "up");
    tl.recv(lane.prefix + "up");
  }
  if (left) tl.send(lane.prefix + "left");
  if (right) tl.send(lane.prefix + "right");
}

}  // namespace

void in_network(tl::Context& tl, const Group& g, const tl::Tensor& t, const std::string& redop,
                const std::function<tl::Ptr(int64_t)>& y) {
  const Phase& phase = g.single.front();
  const Lane lane{tl, phase.prefix};
  const bool scatters = g.collective.op == Op::reduce_scatter;
  const int64_t n = scatters ? t.elements() / g.size() : t.elements();
  const tl::Tensor own = t.reshape({t.elements()});
  if (scatters || g.me == phase.root)
    tl.store(y(g.me).block({n}), tl.full({n}, identity_of(redop, own.dtype()), own.dtype()));
  meet(lane, g.me, g.size());
  // All members take the blocks in one order: a source holds its write channel until the others have come.
  for (int64_t root = scatters ? 0 : phase.root; root < (scatters ? g.size() : phase.root + 1); ++root) {
    const tl::ReduceGroup group(phase.prefix + std::string(name_of(g.collective.op)) + " to PE " +
                                    std::to_string(g.pes[static_cast<size_t>(root)]),
                                g.size(), {g.pes.begin(), g.pes.end()});
    tl.red(red_of(redop).c_str(), y(root).block({n}), scatters ? own.slice(0, root * n, n) : own, group,
           tl::Sem::acq_rel);
  }
  if (g.collective.op == Op::all_reduce && g.me == phase.root && g.size() > 1) {
    std::vector<tl::Ptr> others;
    for (const int64_t member : all_but(g.me, g.size())) others.push_back(y(member));
    tl.multicast(others, tl.load(y(g.me).block({n})));
  }
  meet(lane, g.me, g.size());
}

std::vector<tl::Tensor> all_to_all(tl::Context& tl, const Group& g, const tl::Tensor& t, const Final& final) {
  const Phase& phase = g.single.front();
  const Lane lane{tl, phase.prefix};
  const int64_t n = g.size(), block = t.elements() / n;
  const tl::Tensor own = t.reshape({t.elements()});
  std::vector<tl::Tensor> blocks(static_cast<size_t>(n));
  blocks[static_cast<size_t>(g.me)] = own.slice(0, g.me * block, block);
  lane.finish(final, g.me * block, blocks[static_cast<size_t>(g.me)]);
  for (int64_t s = 1; s < n; ++s) {
    const int64_t to = (g.me + s) % n, from = (g.me + n - s) % n;
    lane.send("to" + std::to_string(to), own.slice(0, to * block, block));
    const tl::Tensor came = lane.recv("to" + std::to_string(from), block, t.dtype());
    lane.finish(final, from * block, came);
    blocks[static_cast<size_t>(from)] = came;
  }
  return blocks;
}

tl::Tensor sendrecv(tl::Context& tl, const Group& g, const tl::Tensor& t, const Final& final) {
  const Phase& phase = g.single.front();
  const Lane lane{tl, phase.prefix};
  tl::Tensor came = t.reshape({t.elements()});
  if (g.size() > 1) {
    lane.send("next", came);
    came = lane.recv("prev", t.elements(), t.dtype());
  }
  lane.finish(final, 0, came);
  return came;
}

// ---- Barrier --------------------------------------------------------------------------------------------------------

namespace {

Axes axes_of_scope(const std::string& scope) {
  if (scope == "cube") return {true, false, false};
  if (scope == "sip") return {true, true, false};
  if (scope == "rank") return {false, false, true};
  if (scope == "all") return {true, true, true};
  throw BadParam("barrier: found scope '" + scope + "', expected cube, sip, rank or all");
}

}  // namespace

std::vector<QueueConnection> barrier_connections(const LaunchShape& launch, const std::string& scope) {
  std::vector<QueueConnection> all;
  for (const Members& pes : groups_of(launch, axes_of_scope(scope))) {
    for (const Wire& w : heap_wiring(static_cast<int64_t>(pes.size()))) {
      all.push_back({pes[static_cast<size_t>(w.from)],
                     "barrier." + w.port,
                     pes[static_cast<size_t>(w.to)],
                     "barrier." + w.peer_port,
                     {},
                     {},
                     {}});
    }
  }
  return all;
}

void barrier(tl::Context& tl, const std::string& scope) {
  const Members pes = group_with(tl.launch(), axes_of_scope(scope), tl.index());
  const auto n = static_cast<int64_t>(pes.size());
  const int64_t me = member_of(pes, tl.index());
  meet(Lane{tl, "barrier."}, me, n);
}

}  // namespace kernbench::ccl
