// SPDX-License-Identifier: Apache-2.0
// Does every route follow the contract: minimum distance, then fewest hops, then the smallest sequence of edge indices?
// Compared with all simple paths of small random graphs with many ties.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <random>

#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::topology {
namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Factor for the time limit of a test: sc_tests/CMakeLists.txt.
double times_longer() {
  const char* times = std::getenv("KERNBENCH_TIMES_LONGER");
  return times ? std::atof(times) : 1;
}

Graph make_graph(const std::vector<bool>& transit, const std::vector<Edge>& edges) {
  Graph g;
  for (size_t i = 0; i < transit.size(); ++i) {
    Node n;
    n.id = "n" + std::to_string(i);
    n.kind = transit[i] ? "router" : "pe_dma";
    n.transit = transit[i];
    g.nodes.push_back(n);
  }
  g.edges = edges;
  g.finish();
  return g;
}

Edge edge(uint32_t from, uint32_t to, double mm) {
  Edge e;
  e.from = from;
  e.to = to;
  e.distance_mm = mm;
  return e;
}

struct Best {
  bool found = false;
  int64_t nm = 0;
  std::vector<uint32_t> path;
};

void try_all(const Graph& g, uint32_t at, uint32_t target, std::vector<bool>& used, int64_t nm,
             std::vector<uint32_t>& path, Best& best) {
  if (at == target) {
    const bool better =
        !best.found || nm < best.nm ||
        (nm == best.nm && (path.size() < best.path.size() || (path.size() == best.path.size() && path < best.path)));
    if (better) best = {true, nm, path};
    return;
  }
  if (!path.empty() && !g.nodes[at].transit) return;
  for (uint32_t e = 0; e < g.edges.size(); ++e) {
    const Edge& x = g.edges[e];
    if (x.from != at || used[x.to]) continue;
    used[x.to] = true;
    path.push_back(e);
    try_all(g, x.to, target, used, nm + std::llround(x.distance_mm * 1e6), path, best);
    path.pop_back();
    used[x.to] = false;
  }
}

Graph random_graph(std::mt19937& random) {
  const uint32_t n = 2 + random() % 7;
  std::vector<bool> transit(n);
  for (uint32_t i = 0; i < n; ++i) transit[i] = random() % 4 != 0;
  const double lengths[] = {0.0, 0.0, 0.1, 0.2, 0.3, 0.30000004};  // the last rounds to 0.3
  std::vector<Edge> edges;
  const uint32_t dense = 1 + random() % 2;  // sparse ones break apart at cut nodes
  for (uint32_t a = 0; a < n; ++a)
    for (uint32_t b = 0; b < n; ++b)
      if (a != b && random() % 5 < dense) edges.push_back(edge(a, b, lengths[random() % 6]));
  std::shuffle(edges.begin(), edges.end(), random);
  return make_graph(transit, edges);
}

TEST(router, agrees_with_the_enumeration_of_all_paths) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  int ties_and_paths = 0;
  for (int round = 0; round < 400; ++round) {
    const Graph g = random_graph(random);
    PathRouter router(g);  // one for all queries, so that searches are resumed and restarted
    for (int query = 0; query < 30; ++query) {
      const uint32_t a = random() % g.nodes.size(), b = random() % g.nodes.size();
      if (a == b) continue;
      Best best;
      std::vector<bool> used(g.nodes.size());
      std::vector<uint32_t> path;
      used[a] = true;
      try_all(g, a, b, used, 0, path, best);
      ASSERT_EQ(router.has_path(a, b), best.found);
      if (!best.found) {
        ASSERT_THROW(router.find_path(a, b), RouteError);
        continue;
      }
      ASSERT_EQ(router.find_path(a, b), best.path) << "round " << round << " from " << a << " to " << b;
      ASSERT_EQ(router.distance_nm(a, b), best.nm);
      ++ties_and_paths;
    }
  }
  EXPECT_GT(ties_and_paths, 1000);
}

TEST(router, a_path_to_itself_is_empty) {
  const Graph g = make_graph({true, true}, {edge(0, 1, 1), edge(1, 0, 1)});
  EXPECT_TRUE(PathRouter(g).find_path(1, 1).empty());
}

TEST(router, names_both_ends_where_there_is_no_path) {
  const Graph g = make_graph({true, false, true}, {edge(0, 1, 1), edge(1, 2, 1)});
  PathRouter router(g);
  try {
    router.find_path(0, 2);
    FAIL() << "a path through an end";
  } catch (const RouteError& e) {
    EXPECT_STREQ(e.what(), "no path from 'n0' to 'n2'");
  }
}

TEST(router, reverses_edge_by_edge_even_where_another_way_back_is_shorter) {
  const Graph g =
      make_graph({true, true, true}, {edge(0, 1, 1), edge(1, 2, 1), edge(2, 1, 9), edge(1, 0, 9), edge(2, 0, 1)});
  PathRouter router(g);
  const auto path = router.find_path(0, 2);
  EXPECT_EQ(path, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(router.reversed(path), (std::vector<uint32_t>{3, 2}));
}

TEST(router, names_both_ends_of_an_edge_without_a_way_back) {
  const Graph g = make_graph({true, true}, {edge(0, 1, 1)});
  PathRouter router(g);
  try {
    router.reversed(router.find_path(0, 1));
    FAIL();
  } catch (const RouteError& e) {
    EXPECT_STREQ(e.what(), "no edge back from 'n1' to 'n0'");
  }
}

TEST(router, walks_a_mesh_x_then_y) {
  constexpr uint32_t kSide = 5;
  std::vector<Edge> edges;
  const auto both = [&](uint32_t a, uint32_t b) {
    edges.push_back(edge(a, b, 1));
    edges.push_back(edge(b, a, 1));
  };
  for (uint32_t r = 0; r < kSide; ++r)
    for (uint32_t c = 0; c + 1 < kSide; ++c) both(r * kSide + c, r * kSide + c + 1);
  for (uint32_t r = 0; r + 1 < kSide; ++r)
    for (uint32_t c = 0; c < kSide; ++c) both(r * kSide + c, (r + 1) * kSide + c);
  const Graph g = make_graph(std::vector<bool>(kSide * kSide, true), edges);
  PathRouter router(g);
  for (uint32_t a = 0; a < g.nodes.size(); ++a) {
    for (uint32_t b = 0; b < g.nodes.size(); ++b) {
      uint32_t at = a;
      for (const uint32_t e : router.find_path(a, b)) {
        const bool same_column = at % kSide == b % kSide;
        const bool moves_in_x = g.edges[e].from / kSide == g.edges[e].to / kSide;
        EXPECT_EQ(moves_in_x, !same_column);
        at = g.edges[e].to;
      }
      EXPECT_EQ(at, b);
    }
  }
}

TEST(router, a_near_target_in_a_large_graph_costs_little) {
  constexpr uint32_t kNodes = 200'000;
  std::vector<Edge> edges;
  for (uint32_t i = 0; i + 1 < kNodes; ++i) {
    edges.push_back(edge(i, i + 1, 1));
    edges.push_back(edge(i + 1, i, 1));
  }
  const Graph g = make_graph(std::vector<bool>(kNodes, true), edges);
  PathRouter router(g);
  const double start = cpu_seconds();
  size_t hops = 0;
  for (uint32_t i = 0; i + 4 < kNodes; i += 2) hops += router.find_path(i, i + 3).size();
  const double s = cpu_seconds() - start;
  EXPECT_EQ(hops, 3u * ((kNodes - 4) / 2));
  // 100,000 searches that touch every node would take minutes.
  EXPECT_LT(s, 5.0 * times_longer());
}

TEST(router, sources_of_one_part_of_a_graph_search_the_others_once) {
  constexpr uint32_t kParts = 200, kPerRing = 100, kHub = kParts * kPerRing;
  std::vector<Edge> edges;
  const auto both = [&](uint32_t a, uint32_t b) {
    edges.push_back(edge(a, b, 1));
    edges.push_back(edge(b, a, 1));
  };
  for (uint32_t p = 0; p < kParts; ++p) {
    for (uint32_t i = 0; i < kPerRing; ++i) both(p * kPerRing + i, p * kPerRing + (i + 1) % kPerRing);
    both(p * kPerRing, kHub);
  }
  const Graph g = make_graph(std::vector<bool>(kHub + 1, true), edges);
  PathRouter router(g);
  const double start = cpu_seconds();
  for (uint32_t a = 0; a < kHub; ++a) {
    const uint32_t b = (a + 7 * kPerRing + 11) % kHub;
    const auto around = [](uint32_t i) { return std::min(i % kPerRing, kPerRing - i % kPerRing); };
    ASSERT_EQ(router.find_path(a, b).size(), around(a) + 2 + around(b));
  }
  const double s = cpu_seconds() - start;
  // 20,000 searches through all 20,000 nodes would take minutes.
  EXPECT_LT(s, 5.0 * times_longer());
}

Graph mesh(uint32_t side) {
  std::vector<Edge> edges;
  const auto both = [&](uint32_t a, uint32_t b) {
    edges.push_back(edge(a, b, 1));
    edges.push_back(edge(b, a, 1));
  };
  for (uint32_t i = 0; i < side * side; ++i) {
    if (i % side + 1 < side) both(i, i + 1);
    if (i / side + 1 < side) both(i, i + side);
  }
  return make_graph(std::vector<bool>(side * side, true), edges);
}

TEST(router, sources_that_ask_in_turns_go_on_with_their_searches) {
  constexpr uint32_t kSide = 50, kSources = 100, kTargets = 100;
  const Graph g = mesh(kSide);
  PathRouter router(g);
  const double start = cpu_seconds();
  for (uint32_t t = 0; t < kTargets; ++t) {
    for (uint32_t s = 0; s < kSources; ++s) {
      const uint32_t a = s * 7, b = kSide * kSide - 1 - t;
      const uint32_t down = b / kSide - a / kSide,
                     across = std::max(a % kSide, b % kSide) - std::min(a % kSide, b % kSide);
      ASSERT_EQ(router.find_path(a, b).size(), down + across);
    }
  }
  const double s = cpu_seconds() - start;
  // 10,000 searches through 2,500 nodes take more than a second; 100 take some hundredths.
  EXPECT_LT(s, 0.5 * times_longer());
}

TEST(router, more_sources_than_are_kept_have_the_same_paths) {
  constexpr uint32_t kSide = 150;  // 23 searches of 22,500 nodes are cached
  const Graph g = mesh(kSide);
  PathRouter router(g);
  const uint32_t targets[] = {kSide * kSide - 1, kSide / 2};
  std::vector<std::vector<uint32_t>> paths;
  for (const uint32_t target : targets) {
    for (uint32_t s = 0; s < 30; ++s) paths.push_back(router.find_path(s * 719, target));
  }
  for (uint32_t s = 0; s < 30; ++s) {
    PathRouter alone(g);
    for (size_t t = 0; t < 2; ++t) ASSERT_EQ(paths[t * 30 + s], alone.find_path(s * 719, targets[t])) << s << " " << t;
  }
}

}  // namespace
}  // namespace kernbench::topology
