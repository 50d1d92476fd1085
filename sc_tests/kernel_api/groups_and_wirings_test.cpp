// SPDX-License-Identifier: Apache-2.0
// Groups, grids and wirings (collectives rules §12.1 to §12.3), against lists written by hand and counts for any size.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernbench/kernel_api/collectives/collective.h"
#include "kernbench/kernel_api/params.h"

namespace kernbench::ccl {
namespace {

/// A launch on ranks × cubes × PEs, without the omitted ones.
LaunchShape launch_of(LaunchShape::Grid ranks, LaunchShape::Grid cubes, int64_t pes,
                      const std::set<std::string>& without = {}) {
  LaunchShape l;
  l.ranks = ranks;
  l.cubes = cubes;
  l.pes_of_cube = pes;
  for (int64_t r = 0; r < ranks.w * ranks.h; ++r) {
    for (int64_t c = 0; c < cubes.w * cubes.h; ++c) {
      for (int64_t p = 0; p < pes; ++p) {
        const std::string id = "sip" + std::to_string(r) + ".cube" + std::to_string(c) + ".pe" + std::to_string(p);
        if (without.count(id) == 0) l.pes.push_back({p, c, r, p, c, r, id});
      }
    }
  }
  return l;
}

std::string told(const Wires& wires) {
  std::string text;
  for (const Wire& w : wires)
    text += std::to_string(w.from) + "." + w.port + "-" + std::to_string(w.to) + "." + w.peer_port + " ";
  return text;
}

TEST(Groups, DifferInTheAxesThatAreNamedAndNoOther) {
  const LaunchShape l = launch_of({2, 1}, {2, 1}, 2);  // indices: rank 4, cube 2, pe 1
  EXPECT_EQ(groups_of(l, parse_axes("rank")), (std::vector<Members>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups_of(l, parse_axes("pe")), (std::vector<Members>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(groups_of(l, parse_axes("pe+rank")), (std::vector<Members>{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(groups_of(l, parse_axes("rank+cube+pe")).size(), 1u);
  EXPECT_EQ(group_with(l, parse_axes("rank"), 6), (Members{2, 6}));
}

TEST(Groups, GoByPlacesOfTheMachineOrOfTheLaunch) {
  LaunchShape l;  // PEs 0 and 1 of one cube, 2 and 5 of the next
  for (const int64_t place : {0, 1, 2, 5}) {
    const auto index = static_cast<int64_t>(l.pes.size());
    l.pes.push_back({index % 2, index / 2, 0, place, index / 2, 0, "pe" + std::to_string(place)});
  }
  const Axes cube = parse_axes("cube");
  EXPECT_EQ(groups_of(l, cube), (std::vector<Members>{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(groups_of(l, cube, SamePlace::in_launch), (std::vector<Members>{{0, 2}, {1, 3}}));
  EXPECT_EQ(group_with(l, cube, 3), (Members{3}));  // both are cached at the same time
  EXPECT_EQ(group_with(l, cube, 3, SamePlace::in_launch), (Members{1, 3}));
  l.pes.pop_back();
  EXPECT_NO_THROW(groups_of(l, cube));
  EXPECT_THROW(groups_of(l, cube, SamePlace::in_launch), BadParam);
}

TEST(Groups, OfUnequalSizeAndUnknownAxesAreRefused) {
  const LaunchShape l = launch_of({2, 1}, {1, 1}, 2, {"sip1.cube0.pe1"});
  EXPECT_THROW(groups_of(l, parse_axes("rank")), BadParam);
  EXPECT_NO_THROW(groups_of(l, parse_axes("rank+pe")));
  for (const char* over : {"", "sip", "rank+", "rank+rank", "rank,pe"})
    EXPECT_THROW(parse_axes(over), BadParam) << over;
}

TEST(Grids, OfPesHaveTheLargestDivisorUpToTheRootAsHeight) {
  const std::map<int64_t, Grid> expected = {{1, {1, 1}}, {2, {2, 1}}, {4, {2, 2}},  {6, {3, 2}},
                                            {7, {7, 1}}, {8, {4, 2}}, {12, {4, 3}}, {16, {4, 4}}};
  for (const auto& [pes, grid] : expected) EXPECT_EQ(pe_grid(pes), grid) << pes;
}

TEST(Grids, WithAPlaceLeftOutAreOneRowOfWhatIsThere) {
  const LaunchShape whole = launch_of({1, 1}, {1, 1}, 8), ragged = launch_of({1, 1}, {1, 1}, 8, {"sip0.cube0.pe3"});
  EXPECT_EQ(grid_of(whole, Axis::pe, group_with(whole, parse_axes("pe"), 0)), (Grid{4, 2}));
  EXPECT_EQ(grid_of(ragged, Axis::pe, group_with(ragged, parse_axes("pe"), 0)), (Grid{7, 1}));
  LaunchShape flat = whole;
  flat.flat = true;
  EXPECT_EQ(grid_of(flat, Axis::pe, group_with(flat, parse_axes("pe"), 0)), (Grid{8, 1}));
}

TEST(Rings, GoRowByRowOddRowsBackwards) {
  LaunchShape l = launch_of({3, 2}, {1, 1}, 1);
  const Members all = group_with(l, parse_axes("rank"), 0);
  l.tray = "torus_2d";
  EXPECT_EQ(ring_order(l, parse_axes("rank"), all), (std::vector<int64_t>{0, 1, 2, 5, 4, 3}));
  l.tray = "ring_1d";
  EXPECT_EQ(ring_order(l, parse_axes("rank"), all), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ring_order(l, parse_axes("rank+pe"), all), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Wirings, AreThoseWrittenByHand) {
  EXPECT_EQ(told(line_wiring({3, 1})), "0.E-1.W 1.E-2.W ");
  EXPECT_EQ(told(grid_wiring({2, 2})), "0.E-1.W 0.S-2.N 1.S-3.N 2.E-3.W ");
  EXPECT_EQ(told(torus_wiring({1, 1})), "");
  EXPECT_EQ(told(torus_wiring({2, 1})), "0.E-1.W 1.E-0.W ");
  EXPECT_EQ(told(torus_wiring({3, 1})), "0.E-1.W 1.E-2.W 2.E-0.W ");
  EXPECT_EQ(told(torus_wiring({1, 2})), "0.S-1.N 1.S-0.N ");
  EXPECT_EQ(told(ring_wiring({0})), "");
  EXPECT_EQ(told(ring_wiring({0, 1})), "0.next-1.prev 1.next-0.prev ");
  EXPECT_EQ(told(ring_wiring({0, 1, 3, 2})), "0.next-1.prev 1.next-3.prev 2.next-0.prev 3.next-2.prev ");
  EXPECT_EQ(told(chain_wiring({0, 1, 2}, 1)), "1.next-2.prev 2.next-0.prev ");
  EXPECT_EQ(told(halving_wiring(4)), "0.x0-1.x0 0.x1-2.x1 1.x1-3.x1 2.x0-3.x0 ");
  EXPECT_EQ(told(tree_wiring(5, 0)), "0.t0-1.t0 0.t1-2.t1 0.t2-4.t2 2.t0-3.t0 ");
  EXPECT_EQ(told(tree_wiring(3, 1)), "1.t0-2.t0 1.t1-0.t1 ");
  EXPECT_EQ(told(all_wiring(3)), "0.to1-1.to0 0.to2-2.to0 1.to2-2.to1 ");
  EXPECT_EQ(told(heap_wiring(4)), "1.up-0.left 2.up-0.right 3.up-1.left ");
}

/// No port occurs twice, no member is connected to itself, and the number of wires is correct.
TEST(Wirings, OfAnySizeHaveEachPortOnce) {
  for (int64_t n = 1; n <= 16; ++n) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < n; ++i) order.push_back(i);
    const std::map<std::string, std::pair<Wires, int64_t>> all = {
        {"ring", {ring_wiring(order), n == 1 ? 0 : n}},
        {"chain", {chain_wiring(order, n / 2), n - 1}},
        {"tree", {tree_wiring(n, n / 3), n - 1}},
        {"all", {all_wiring(n), n * (n - 1) / 2}},
        {"heap", {heap_wiring(n), n - 1}},
        {"line", {line_wiring({n, 1}), n - 1}},
        {"torus", {torus_wiring({n, 1}), n == 1 ? 0 : n}},
        {"grid", {grid_wiring({n, 2}), 3 * n - 2}},
        {"halving", {is_power_of_two(n) ? halving_wiring(n) : Wires(), is_power_of_two(n) ? n * log2_up(n) / 2 : 0}}};
    for (const auto& [name, wiring] : all) {
      SCOPED_TRACE(name + " of " + std::to_string(n));
      EXPECT_EQ(static_cast<int64_t>(wiring.first.size()), wiring.second);
      std::set<std::pair<int64_t, std::string>> ports;
      for (const Wire& w : wiring.first) {
        EXPECT_NE(w.from, w.to);
        EXPECT_TRUE(ports.insert({w.from, w.port}).second) << w.from << w.port;
        EXPECT_TRUE(ports.insert({w.to, w.peer_port}).second) << w.to << w.peer_port;
      }
    }
  }
}

TEST(Hierarchies, LeaveOutThePhaseOfAnAxisThatIsNotNamed) {
  LaunchShape l = launch_of({3, 1}, {2, 2}, 2);
  l.tray = "torus_2d";
  Collective c;
  c.algorithm = "hierarchical";
  c.over = "rank+cube+pe";
  const std::vector<Group> all = make_groups(l, c);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].inner.size(), 12u);
  EXPECT_EQ(all[0].cubes.size(), 3u);
  EXPECT_EQ(all[0].cubes[0].root, 3);  // centre of 2 × 2
  EXPECT_EQ(all[0].ranks.size(), 1u);
  const Members& leaders = all[0].ranks[0].pes;
  EXPECT_EQ(leaders, (Members{6, 14, 22}));  // the first PE of each root cube
  EXPECT_EQ(all[0].ranks[0].kind, Phase::Kind::torus);
  c.over = "rank+pe";
  const std::vector<Group> some = make_groups(l, c);
  EXPECT_EQ(some.size(), 4u);
  EXPECT_TRUE(some[0].cubes.empty());
  const Group mine = make_group(l, c, 1);  // no leader, so it has one phase
  EXPECT_EQ(mine.inner.size(), 1u);
  EXPECT_TRUE(mine.ranks.empty());
}

TEST(Collectives, ThatAreNotAvailableSayWhy) {
  const LaunchShape l = launch_of({3, 1}, {1, 1}, 1);
  const auto why = [&](Op op, const std::string& algorithm, const std::string& root = "0") {
    Collective c;
    c.op = op;
    c.algorithm = algorithm;
    c.root = root;
    try {
      make_groups(l, c);
    } catch (const BadParam& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(why(Op::all_reduce, "halving").find("no power of two: 3"), std::string::npos);
  EXPECT_NE(why(Op::all_reduce, "grid").find("one row: 3 x 1"), std::string::npos);
  EXPECT_NE(why(Op::all_reduce, "hierarchical").find("two or three axes"), std::string::npos);
  EXPECT_NE(why(Op::broadcast, "ring").find("broadcast has chain, tree, grid"), std::string::npos);
  EXPECT_NE(why(Op::broadcast, "tree", "3").find("expected 0 to 2"), std::string::npos);
  EXPECT_EQ(why(Op::broadcast, "tree", "2"), "");
}

}  // namespace
}  // namespace kernbench::ccl
