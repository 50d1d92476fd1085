// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/collective.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <stdexcept>

#include "kernbench/kernel_api/params.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::ccl {
namespace {

/// Parses a root among `cells` cells, in a grid or (null) without one. BadParam.
int64_t root_cell(const std::string& text, int64_t cells, const Grid* grid) {
  if (grid != nullptr && text == "centre") return grid->centre();
  if (grid != nullptr && text == "corner") return 0;
  int64_t cell = -1;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), cell);
  if (r.ec == std::errc() && r.ptr == text.data() + text.size() && cell >= 0 && cell < cells) return cell;
  throw BadParam("root: found '" + text + "', expected 0 to " + std::to_string(cells - 1) +
                 (grid != nullptr ? ", centre or corner" : ""));
}

/// Splits a group's PEs by the value of `key` for their places, in order.
template <class Key>
std::vector<Members> split(const LaunchShape& launch, const Members& pes, Key key) {
  std::vector<Members> parts;
  std::map<decltype(key(launch.pes.front())), size_t> index;
  for (const int64_t pe : pes) {
    const auto [it, fresh] = index.emplace(key(launch.pes[static_cast<size_t>(pe)]), parts.size());
    if (fresh) parts.emplace_back();
    parts[it->second].push_back(pe);
  }
  return parts;
}

Phase grid_phase(const LaunchShape& launch, Axis axis, Members pes, const std::string& root) {
  Phase p;
  p.kind = Phase::Kind::grid;
  p.grid = grid_of(launch, axis, pes);
  p.root = root_cell(root, p.grid.cells(), &p.grid);
  p.pes = std::move(pes);
  return p;
}

/// Between ranks, by the shape of their tray (§12.5, exchange).
Phase exchange_phase(const LaunchShape& launch, Members pes) {
  if (launch.tray == "mesh_2d_no_wrap") return grid_phase(launch, Axis::rank, std::move(pes), "centre");
  Phase p;
  p.grid = grid_of(launch, Axis::rank, pes);
  p.kind = launch.tray == "torus_2d" ? Phase::Kind::torus : Phase::Kind::ring;
  p.order = ring_order(launch, {false, false, true}, pes);
  p.pes = std::move(pes);
  return p;
}

/// The member that has the result after each phase.
Members roots(const std::vector<Phase>& phases) {
  Members pes;
  for (const Phase& p : phases) pes.push_back(p.pes[static_cast<size_t>(p.root)]);
  return pes;
}

void make_hierarchy(const LaunchShape& launch, Axes over, Group* g) {
  const std::string& prefix = g->collective.prefix;
  Members left = g->pes;
  if (over.pe) {
    for (Members& m : split(launch, left, [](const auto& p) { return std::pair(p.rank_place, p.cube_place); }))
      g->inner.push_back(grid_phase(launch, Axis::pe, std::move(m), "corner"));
    for (Phase& p : g->inner) p.prefix = prefix + "pe.";
    left = roots(g->inner);
  }
  if (over.cube) {
    for (Members& m : split(launch, left, [](const auto& p) { return p.rank_place; }))
      g->cubes.push_back(grid_phase(launch, Axis::cube, std::move(m), g->collective.root));
    for (Phase& p : g->cubes) p.prefix = prefix + "cube.";
    left = roots(g->cubes);
  }
  if (over.rank) {
    g->ranks.push_back(exchange_phase(launch, std::move(left)));
    g->ranks.back().prefix = prefix + "rank.";
  }
}

Phase single_phase(const LaunchShape& launch, const Collective& c, Axes over, const Members& pes) {
  Phase p;
  p.kind = algorithm_named(c.algorithm).kind;
  p.prefix = c.prefix;
  p.pes = pes;
  if (over.count() == 1) p.grid = grid_of(launch, over.only(), pes);
  if (p.kind == Phase::Kind::ring || p.kind == Phase::Kind::chain) p.order = ring_order(launch, over, pes);
  if (c.op == Op::broadcast || c.op == Op::reduce) p.root = root_member(launch, c, pes);
  if (c.op == Op::all_reduce && p.kind == Phase::Kind::grid) p.root = root_cell(c.root, p.grid.cells(), &p.grid);
  return p;
}

Group group_of(const LaunchShape& launch, const Collective& c, Axes over, Members pes) {
  const std::string why = unavailable(launch, c, pes);
  if (!why.empty()) throw BadParam("algorithm: " + c.algorithm + " is not available: " + why);
  Group g;
  g.collective = c;
  g.pes = std::move(pes);
  if (c.algorithm == "hierarchical") {
    make_hierarchy(launch, over, &g);
  } else {
    if (c.op == Op::all_reduce && c.algorithm == "multicast") {
      Collective reduces = c;
      reduces.algorithm = reduce_scatter_before_multicast(g.size());
      g.single.push_back(single_phase(launch, reduces, over, g.pes));
    }
    g.single.push_back(single_phase(launch, c, over, g.pes));
  }
  return g;
}

}  // namespace

std::string reduce_scatter_before_multicast(int64_t members) {
  return is_power_of_two(members) ? "halving" : "ring";
}

const char* name_of(Op op) {
  static const char* const names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                      "reduce",     "all_to_all", "sendrecv"};
  return names[static_cast<int>(op)];
}

namespace {

/// In the order in which `auto` prefers them on equal cost.
const std::vector<Algorithm>& algorithms() {
  using K = Phase::Kind;
  using Considered = Algorithm::Considered;
  static const std::vector<Algorithm> all = {
      {"ring", {Op::all_reduce, Op::all_gather, Op::reduce_scatter}, K::ring, "ring (next-prev)"},
      {"rotate", {Op::all_reduce}, K::ring, "ring (next-prev)"},
      {"halving", {Op::all_reduce, Op::all_gather, Op::reduce_scatter}, K::halving, "halving (x0, x1, ...)"},
      {"chain", {Op::broadcast, Op::reduce}, K::chain, "chain (next-prev)"},
      {"tree", {Op::all_reduce, Op::broadcast, Op::reduce}, K::tree, "tree (t0, t1, ...)"},
      {"grid", {Op::all_reduce, Op::broadcast, Op::reduce}, K::grid, "grid (W-E, N-S)"},
      {"hierarchical", {Op::all_reduce}, K::grid, "grids (pe.*, cube.*), between ranks as the tray is (rank.*)"},
      {"multicast",
       {Op::all_reduce, Op::all_gather, Op::broadcast},
       K::all,
       "all (to0, to1, ...)",
       Considered::if_declared},
      {"in_network",
       {Op::all_reduce, Op::reduce_scatter, Op::reduce},
       K::heap,
       "heap (up, left, right)",
       Considered::never},
      {"pairwise", {Op::all_to_all}, K::all, "all (to0, to1, ...)"},
      {"sendrecv", {Op::sendrecv}, K::ring, "ring (next-prev)"}};
  return all;
}

}  // namespace

const Algorithm& algorithm_named(const std::string& name) {
  const auto it = std::find_if(algorithms().begin(), algorithms().end(), [&](const auto& a) { return a.name == name; });
  if (it == algorithms().end()) throw std::out_of_range("no algorithm " + name);
  return *it;
}

const std::vector<std::string>& algorithms_of(Op op) {
  static const std::map<Op, std::vector<std::string>> names = [] {
    std::map<Op, std::vector<std::string>> of_op;
    for (const Algorithm& a : algorithms()) {
      for (const Op each : a.ops) of_op[each].push_back(a.name);
    }
    return of_op;
  }();
  return names.at(op);
}

Wires wires_of(const Phase& p) {
  switch (p.kind) {
    case Phase::Kind::ring:
      return ring_wiring(p.order);
    case Phase::Kind::halving:
      return halving_wiring(p.size());
    case Phase::Kind::tree:
      return tree_wiring(p.size(), p.root);
    case Phase::Kind::chain:
      return chain_wiring(p.order, p.root);
    case Phase::Kind::grid:
      return grid_wiring(p.grid);
    case Phase::Kind::torus:
      return torus_wiring(p.grid);
    case Phase::Kind::heap:
      return heap_wiring(p.size());
    case Phase::Kind::all:
      break;
  }
  return all_wiring(p.size());
}

std::vector<const Phase*> Group::phases() const {
  std::vector<const Phase*> all;
  for (const auto* part : {&single, &inner, &cubes, &ranks}) {
    for (const Phase& p : *part) all.push_back(&p);
  }
  return all;
}

std::string unavailable(const LaunchShape& launch, const Collective& c, const Members& pes) {
  const auto& known = algorithms_of(c.op);
  if (std::find(known.begin(), known.end(), c.algorithm) == known.end())
    return std::string(name_of(c.op)) + " has " + joined(known);
  const Axes over = parse_axes(c.over);
  const std::string members = std::to_string(pes.size());
  if (c.algorithm == "halving" && !is_power_of_two(static_cast<int64_t>(pes.size())))
    return "the number of members is no power of two: " + members;
  if (c.algorithm == "hierarchical" && over.count() < 2) return "it needs two or three axes, and over is " + c.over;
  if (c.algorithm != "grid") return {};
  if (over.count() != 1) return "it needs one axis, and over is " + c.over;
  const Grid g = grid_of(launch, over.only(), pes);
  if (g.w > 1 && g.h > 1) return {};
  return "the members along " + c.over + " stand in one row: " + std::to_string(g.w) + " x " + std::to_string(g.h);
}

int64_t root_member(const LaunchShape& launch, const Collective& c, const Members& pes) {
  const Axes over = parse_axes(c.over);
  if (over.count() != 1) return root_cell(c.root, static_cast<int64_t>(pes.size()), nullptr);
  const Grid grid = grid_of(launch, over.only(), pes);
  return root_cell(c.root, grid.cells(), &grid);
}

std::vector<Group> make_groups(const LaunchShape& launch, const Collective& c) {
  const Axes over = parse_axes(c.over);
  std::vector<Group> groups;
  for (Members& pes : groups_of(launch, over)) groups.push_back(group_of(launch, c, over, std::move(pes)));
  return groups;
}

void Collective::take_algorithm(const std::string& text) {
  const size_t dot = text.find('.');
  algorithm = text.substr(0, dot);
  protocol.reset();
  if (dot != std::string::npos) protocol = text.substr(dot + 1);
}

std::string text_of(const Collective& c) {
  return std::string(name_of(c.op)) + ' ' + c.over + ' ' + c.algorithm + ' ' + c.root + ' ' + c.prefix;
}

const std::vector<Group>& all_groups(const LaunchShape& launch, const Collective& c) {
  return launch.memo.get<std::vector<Group>>(text_of(c), [&] { return make_groups(launch, c); });
}

Group make_group(const LaunchShape& launch, const Collective& c, int64_t pe, Of phases) {
  const std::vector<Group>& all = all_groups(launch, c);
  const int64_t first = group_with(launch, parse_axes(c.over), pe).front();
  const auto takes_part = [&](const Phase& p) { return std::find(p.pes.begin(), p.pes.end(), pe) != p.pes.end(); };
  const Group& whole = *std::find_if(all.begin(), all.end(), [&](const Group& group) { return group.pes[0] == first; });
  Group g;
  g.collective = c;
  g.pes = whole.pes;
  g.single = whole.single;
  g.me = member_of(g.pes, pe);
  for (const auto part : {&Group::inner, &Group::cubes, &Group::ranks}) {
    std::copy_if((whole.*part).begin(), (whole.*part).end(), std::back_inserter(g.*part),
                 [&](const Phase& p) { return phases == Of::all || takes_part(p); });
  }
  return g;
}

std::vector<QueueConnection> connections(const LaunchShape& launch, const Collective& c) {
  std::vector<QueueConnection> all;
  for (const Group& g : make_groups(launch, c)) {
    for (const Phase* p : g.phases()) {
      for (const Wire& w : wires_of(*p)) {
        all.push_back({p->pes[static_cast<size_t>(w.from)], p->prefix + w.port, p->pes[static_cast<size_t>(w.to)],
                       p->prefix + w.peer_port, c.slots, c.slot_bytes, c.tier, c.protocol});
      }
    }
  }
  return all;
}

}  // namespace kernbench::ccl
