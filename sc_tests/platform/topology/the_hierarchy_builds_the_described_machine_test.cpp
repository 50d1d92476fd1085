// SPDX-License-Identifier: Apache-2.0
// Do the supplied hierarchical files compile to the machines that they describe: counts, names, distances, routes?
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/graph/address_map.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/platform/topology/route/resolver.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::the_hierarchy_builds_the_described_machine {
namespace {

const testing::TestCatalog catalog;

Graph shipped(const std::string& name) {
  return compile_file(KERNBENCH_TOPOLOGIES "/" + name, catalog);
}

std::map<std::string, int> census(const Graph& g, const std::string& prefix) {
  std::map<std::string, int> count;
  for (const Node& n : g.nodes)
    if (n.id.compare(0, prefix.size(), prefix) == 0) ++count[n.kind];
  return count;
}

std::vector<std::string> ids_along(const Graph& g, const std::vector<uint32_t>& path) {
  std::vector<std::string> ids;
  for (const uint32_t e : path) ids.push_back(g.nodes[g.edges[e].to].id);
  return ids;
}

double mm_along(const Graph& g, const std::vector<uint32_t>& path) {
  double mm = 0;
  for (const uint32_t e : path) mm += g.edges[e].distance_mm;
  return mm;
}

TEST(default_topology, has_the_census_of_the_default_instance) {
  const Graph g = shipped("default.yaml");
  EXPECT_EQ(g.nodes.size(), 4335u);
  EXPECT_EQ(g.pes.size(), 256u);
  const std::map<std::string, int> cube = {{"router", 32}, {"hbm_ctrl", 8},      {"m_cpu", 1},  {"sram", 1},
                                           {"ucie", 20},   {"pe_cpu", 8},        {"pe_dma", 8}, {"pe_gemm", 8},
                                           {"pe_math", 8}, {"pe_scheduler", 8},  {"pe_tcm", 8}, {"pe_mmu", 8},
                                           {"pe_ipcq", 8}, {"pe_fetch_store", 8}};
  EXPECT_EQ(census(g, "sip1.cube15."), cube);
  const std::map<std::string, int> io = {{"pcie_ep", 1}, {"io_cpu", 1}, {"io_noc", 1}, {"ucie", 20}};
  EXPECT_EQ(census(g, "sip0.io0."), io);
  EXPECT_EQ(census(g, "fabric."), (std::map<std::string, int>{{"switch", 1}}));
}

// A cube: 48 mesh links, 16 of PEs and HBM slices, 2 of M_CPU and SRAM, 32 of UCIe, in both directions: 196; plus 23 in
// and to each PE. A SIP: 16 cubes, 24 links between them, 4 to the IO chiplet, 34 in it, 1 to the switch, in both
// directions.
TEST(default_topology, has_the_edges_that_its_parts_add_up_to) {
  const Graph g = shipped("default.yaml");
  EXPECT_EQ(g.edges.size(), 2u * (16 * (2 * (48 + 16 + 2 + 32) + 8 * 23) + 2 * (24 + 4 + 34 + 1)));
  EXPECT_EQ(g.edges.size(), 12412u);
}

TEST(default_topology, names_and_attaches_as_the_facts_say) {
  const Graph g = shipped("default.yaml");
  for (const char* id : {"fabric.switch0", "sip0.io0.pcie_ep", "sip0.io0.io_cpu", "sip0.io0.noc", "sip0.cube3.r1c4",
                         "sip0.cube3.hbm_ctrl.pe2", "sip0.cube3.m_cpu", "sip0.cube3.sram", "sip0.cube3.ucie-N",
                         "sip0.cube3.ucie-N.conn1", "sip0.cube3.pe2.pe_dma"})
    EXPECT_EQ(g.index_of.count(id), 1u) << id;
  for (const char* id : {"sip0.cube3.r2c2", "sip0.cube3.r2c3", "sip0.cube3.r3c2", "sip0.cube3.r3c3"})
    EXPECT_EQ(g.index_of.count(id), 0u) << id;
  const auto neighbour = [&](const char* id) { return g.nodes[g.edges[g.out_edges[g.index_of.at(id)][0]].to].id; };
  EXPECT_EQ(neighbour("sip0.cube3.m_cpu"), "sip0.cube3.r0c2");
  EXPECT_EQ(neighbour("sip0.cube3.sram"), "sip0.cube3.r3c0");
  EXPECT_EQ(neighbour("sip0.cube3.hbm_ctrl.pe2"), "sip0.cube3.r1c4");
  EXPECT_EQ(neighbour("sip0.cube3.hbm_ctrl.pe6"), "sip0.cube3.r5c4");
}

TEST(default_topology, lies_on_the_physical_address_map) {
  const Graph g = shipped("default.yaml");
  const AddressResolver resolver(g);
  const uint64_t six_gb = uint64_t{6} << 30;
  const Resolved r = resolver.resolve((uint64_t{1} << 47) | (uint64_t{3} << 42) | (2 * six_gb + 5));
  EXPECT_EQ(g.nodes[r.node].id, "sip1.cube3.hbm_ctrl.pe2");
  EXPECT_EQ(r.offset, 5u);
  EXPECT_EQ(g.nodes[resolver.resolve(encode({0, 7, kSramWindow})).node].id, "sip0.cube7.sram");
  EXPECT_THROW(resolver.resolve(8 * six_gb), ResolveError);
  const PhysicalAddress a = decode(encode({15, 20, 12345}));
  EXPECT_EQ(a.sip, 15u);
  EXPECT_EQ(a.die, 20u);
  EXPECT_EQ(a.offset, 12345u);
}

TEST(default_topology, walks_the_mesh_x_then_y_and_round_the_hbm) {
  const Graph g = shipped("default.yaml");
  PathRouter router(g);
  const auto path = [&](const char* a, const char* b) {
    return ids_along(g, router.find_path(g.index_of.at(a), g.index_of.at(b)));
  };
  using Ids = std::vector<std::string>;
  const std::string c = "sip0.cube0.";
  EXPECT_EQ(path("sip0.cube0.pe0.pe_dma", "sip0.cube0.hbm_ctrl.pe0"), (Ids{c + "r0c0", c + "hbm_ctrl.pe0"}));
  EXPECT_EQ(path("sip0.cube0.pe0.pe_dma", "sip0.cube0.hbm_ctrl.pe2"),
            (Ids{c + "r0c0", c + "r0c1", c + "r0c2", c + "r0c3", c + "r0c4", c + "r1c4", c + "hbm_ctrl.pe2"}));
  EXPECT_EQ(path("sip0.cube0.r2c1", "sip0.cube0.r2c4"),
            (Ids{c + "r1c1", c + "r1c2", c + "r1c3", c + "r1c4", c + "r2c4"}));
}

/// Every route from the SIP's first PE of each cube to every slice: it stays inside the cube for a local slice, never
/// passes an IO chiplet or a PE, and each UCIe crossing has two ports.
TEST(default_topology, keeps_traffic_where_it_belongs) {
  const Graph g = shipped("default.yaml");
  PathRouter router(g);
  for (uint32_t p = 0; p < 128; p += 3) {
    const naming::Owner from = naming::owner_of(g.pes[p].id);
    for (const Memory& m : g.memories) {
      const naming::Owner to = naming::owner_of(g.nodes[m.node].id);
      if (to.sip != 0) continue;
      int ports = 0;
      for (const std::string& id : ids_along(g, router.find_path(g.pes[p].blocks.at("pe_dma"), m.node))) {
        const naming::Owner at = naming::owner_of(id);
        ASSERT_EQ(at.sip, 0) << id;
        ASSERT_EQ(at.io, -1) << g.pes[p].id << " to " << g.nodes[m.node].id << " by " << id;
        if (from.cube == to.cube) {
          ASSERT_EQ(at.cube, from.cube);
        }
        if (id.find(".ucie-") != std::string::npos && id.find(".conn") == std::string::npos) ++ports;
      }
      const int columns = std::abs(from.cube % 4 - to.cube % 4), rows = std::abs(from.cube / 4 - to.cube / 4);
      ASSERT_EQ(ports, 2 * (columns + rows)) << g.pes[p].id << " to " << g.nodes[m.node].id;
    }
  }
}

TEST(default_topology, reaches_the_other_sip_by_the_switch) {
  const Graph g = shipped("default.yaml");
  PathRouter router(g);
  const auto ids =
      ids_along(g, router.find_path(g.index_of.at("sip0.cube5.pe0.pe_dma"), g.index_of.at("sip1.cube9.hbm_ctrl.pe1")));
  const std::set<std::string> on_path(ids.begin(), ids.end());
  for (const char* id : {"sip0.io0.noc", "sip0.io0.pcie_ep", "fabric.switch0", "sip1.io0.pcie_ep", "sip1.io0.noc"})
    EXPECT_EQ(on_path.count(id), 1u) << id;
}

TEST(default_topology, launches_along_endpoint_io_cpu_m_cpu_pe_cpu) {
  const Graph g = shipped("default.yaml");
  PathFinder paths(g);
  const AddressResolver& find = paths.resolver();
  EXPECT_EQ(ids_along(g, paths.node_path(find.find_pcie_ep(1), find.find_io_cpu(1))),
            (std::vector<std::string>{"sip1.io0.noc", "sip1.io0.io_cpu"}));
  for (const auto& [sip, cube] : find.cubes()) {
    const uint32_t m_cpu = find.find_m_cpu(sip, cube);
    for (const std::string& id : ids_along(g, paths.node_path(find.find_io_cpu(sip), m_cpu)))
      EXPECT_EQ(id.find("pcie_ep"), std::string::npos);
    for (const uint32_t p : find.pes_of_cube(sip, cube))
      EXPECT_EQ(paths.node_path(m_cpu, g.pes[p].blocks.at("pe_cpu")).size(), 1u);
  }
  EXPECT_EQ(find.cubes().size(), 32u);
  EXPECT_EQ(find.sips(), (std::vector<int>{0, 1}));
  EXPECT_EQ(find.find_all_pcie_eps().size(), 2u);
  EXPECT_EQ(find.find_all_pcie_eps(1), (std::vector<uint32_t>{find.find_pcie_ep(1)}));
  EXPECT_THROW(find.find_m_cpu(0, 16), ResolveError);
  EXPECT_EQ(g.nodes[*find.local_hbm_of_pe(9)].id, "sip0.cube1.hbm_ctrl.pe1");
}

TEST(path_finder, keeps_each_purpose_on_its_graph) {
  const Graph g = shipped("default.yaml");
  PathFinder paths(g);
  const uint32_t m_cpu = paths.resolver().find_m_cpu(0, 0);
  const uint32_t pe_cpu = g.index_of.at("sip0.cube0.pe3.pe_cpu");
  EXPECT_EQ(paths.node_path(m_cpu, pe_cpu).size(), 1u);
  EXPECT_THROW(paths.find_path(m_cpu, pe_cpu), RouteError);  // command edges only
  const uint64_t slice3 = 3 * (uint64_t{6} << 30);
  EXPECT_EQ(ids_along(g, paths.m_cpu_dma_path(m_cpu, slice3)).back(), "sip0.cube0.hbm_ctrl.pe3");
  const uint32_t dma = g.index_of.at("sip0.cube0.pe0.pe_dma");
  EXPECT_EQ(paths.memory_path(dma, slice3), paths.local_path(dma, g.index_of.at("sip0.cube0.hbm_ctrl.pe3")));
  EXPECT_THROW(paths.local_path(dma, g.index_of.at("sip0.cube1.sram")), RouteError);
  const auto measured = paths.find_path_with_distance(dma, g.index_of.at("sip0.cube0.hbm_ctrl.pe1"));
  EXPECT_NEAR(measured.distance_mm, 0.5 + 17.0 / 6 + 0.5, 1e-6);
}

TEST(latency_model, gives_the_overheads_bottlenecks_and_wires_of_its_table) {
  const Graph g = shipped("latency_model.yaml");
  PathRouter router(g);
  const uint32_t dma = g.index_of.at("sip0.cube0.pe0.pe_dma");
  struct Row {
    const char* slice;
    double overhead, bw, wire_mm;
  };
  for (const Row& row : {Row{"sip0.cube0.hbm_ctrl.pe0", 2, 256, 8.5}, Row{"sip0.cube0.hbm_ctrl.pe4", 5, 128, 14.5}}) {
    const auto path = router.find_path(dma, g.index_of.at(row.slice));
    double overhead = 0, bw = 1e9;
    for (const uint32_t e : path) {
      overhead += g.nodes[g.edges[e].from].attrs.number("overhead_ns", 0);
      bw = std::min(bw, g.effective_bw(e));
    }
    EXPECT_EQ(overhead, row.overhead) << row.slice;
    EXPECT_EQ(bw, row.bw) << row.slice;
    EXPECT_NEAR(mm_along(g, path), row.wire_mm, 1e-9) << row.slice;
  }
  // Routes inside a cube use neither the NoC node nor UCIe.
  for (uint32_t p = 0; p < 8; ++p)
    for (uint32_t s = 0; s < 8; ++s)
      for (const std::string& id : ids_along(
               g, router.find_path(g.pes[p].blocks.at("pe_dma"), g.index_of.at(naming::hbm_ctrl("sip0.cube0", s)))))
        EXPECT_TRUE(id.find("noc") == std::string::npos && id.find("ucie") == std::string::npos) << id;
}

TEST(six_sip_torus, goes_directly_to_neighbours_and_round_the_wrap) {
  const Graph g = shipped("six_sip_torus.yaml");
  EXPECT_EQ(g.pes.size(), 192u);
  PathRouter router(g);
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) {
      if (a == b) continue;
      const auto endpoint = [&](int sip) { return g.index_of.at("sip" + std::to_string(sip) + ".io0.pcie_ep"); };
      const bool same_row = a / 3 == b / 3, same_column = a % 3 == b % 3;
      // Three columns: all are neighbours on the ring of a row.
      const size_t links = same_row || same_column ? 1 : 2;
      EXPECT_EQ(router.find_path(endpoint(a), endpoint(b)).size(), links) << a << " to " << b;
    }
  }
}

TEST(one_cube, stands_alone_with_its_io_chiplet) {
  const Graph g = shipped("one_cube.yaml");
  EXPECT_EQ(g.pes.size(), 8u);
  PathFinder paths(g);
  EXPECT_EQ(ids_along(g, paths.memory_path(paths.resolver().find_pcie_ep(0), 0)).back(), "sip0.cube0.hbm_ctrl.pe0");
}

TEST(small_topology, is_one_sip_of_two_cubes_with_four_pes_each) {
  const Graph g = shipped("small.yaml");
  EXPECT_EQ(g.pes.size(), 8u);
  EXPECT_EQ(g.pes.back().id, "sip0.cube1.pe3");
  EXPECT_EQ(g.timing.links, Links::ideal);
  EXPECT_EQ(g.memories.size(), 10u);
}

}  // namespace
}  // namespace kernbench::topology::the_hierarchy_builds_the_described_machine
