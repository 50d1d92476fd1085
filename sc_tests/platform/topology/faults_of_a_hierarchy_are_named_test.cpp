// SPDX-License-Identifier: Apache-2.0
// Are wrong hierarchical files refused with line and field, and unusual but legal ones accepted?
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::faults_of_a_hierarchy_are_named {
namespace {

const testing::TestCatalog catalog;

struct Change {
  const char* piece;
  const char* instead;
};

std::string changed(const char* file, const std::vector<Change>& changes) {
  std::ifstream in(std::string(KERNBENCH_TOPOLOGIES "/") + file);
  std::string yaml((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const Change& c : changes) {
    const size_t at = yaml.find(c.piece);
    EXPECT_NE(at, std::string::npos) << c.piece;
    if (at != std::string::npos) yaml.replace(at, std::string(c.piece).size(), c.instead);
  }
  return yaml;
}

std::string all_faults(const std::string& yaml) {
  std::string text;
  try {
    compile_text(yaml, "t.yaml", catalog);
  } catch (const TopologyError& e) {
    for (const Fault& f : e.faults()) text += f.to_string() + "\n";
  }
  return text;
}

struct Case {
  const char* name;
  Change change;
  const char* fault;  ///< a part of an expected line
};

class Hierarchy : public ::testing::TestWithParam<Case> {};

TEST_P(Hierarchy, fault_is_named) {
  const std::string faults = all_faults(changed("default.yaml", {GetParam().change}));
  EXPECT_NE(faults.find(GetParam().fault), std::string::npos) << faults;
  EXPECT_EQ(faults.substr(0, 7), "t.yaml:");
}

const Case kCases[] = {
    {"key", {"pe_layout:", "pe_layuot:"}, "cube.pe_layuot: unknown key, did you mean 'pe_layout'?"},
    {"section", {"io_chiplet:\n", "io_chipet:\n"}, "io_chipet: unknown key, did you mean 'io_chiplet'?"},
    {"missing_bandwidth",
     {"router_to_sram: {bw_gbs: 128.0}", "router_to_sram: {}"},
     "cube.links.router_to_sram.bw_gbs: missing; legal: a number >= 1e-06"},
    {"missing_link",
     {"    router_to_hbm: {distance_mm: 0.5, bw_gbs: 256.0}\n", ""},
     "cube.links.router_to_hbm: missing"},
    {"attribute_of_a_block", {"pc_bw_gbs: 32.0", "pc_bw_gbs: 0"}, "cube.hbm.attrs.pc_bw_gbs: found '0'"},
    {"attribute_of_a_pe_block",
     {"macs_per_cycle: 4096", "macs_per_cycle: -1"},
     "cube.pe_template.components.pe_gemm.attrs.macs_per_cycle: found '-1'"},
    {"unknown_pe_block", {"      pe_mmu: ", "      pe_mmo: "}, "unknown kind 'pe_mmo', did you mean 'pe_mmu'?"},
    {"dangling_internal_link",
     {"{from: pe_dma, to: pe_mmu}", "{from: pe_dma, to: pe_mmx}"},
     "cube.pe_template.links[7].to: found 'pe_mmx'; legal: pe_cpu, pe_scheduler"},
    {"grid_too_large",
     {"grid: [6, 6]", "grid: [6, 1e9]"},
     "cube.noc.grid[1]: found '1e9'; legal: an integer from 1 to 256"},
    {"zone_at_the_rim",
     {"exclude: [2, 2, 3, 3]", "exclude: [0, 2, 3, 3]"},
     "cube.noc.exclude: found an exclusion zone"},
    {"pe_in_the_zone", {"[r0c0, r0c1", "[r2c2, r0c1"}, "cube.pe_layout.at[0]: found 'r2c2'"},
    {"pe_off_the_grid", {"[r0c0, r0c1", "[r6c0, r0c1"}, "cube.pe_layout.at[0]: found 'r6c0'"},
    {"too_few_places", {"[r0c0, r0c1", "[r0c1"}, "cube.pe_layout.at: found 7 routers; legal: a list of 8"},
    {"less_than_a_byte_of_hbm",
     {"slice_mb: 6144", "slice_mb: 1e-320"},
     "cube.hbm.slice_mb: found '1e-320'; legal: a number >= 9.53"},
    {"too_much_hbm", {"slice_mb: 6144", "slice_mb: 65536"}, "cube.hbm.slice_mb: found 8 slices"},
    {"too_many_cubes", {"cubes: {w: 4, h: 4}", "cubes: {w: 5, h: 4}"}, "sip.cubes: found 20 cubes; legal: at most 16"},
    {"too_many_sips",
     {"{count: 2, w: 2, h: 1}", "{count: 17}"},
     "tray.sips.count: found '17'; legal: an integer from 1 to 16"},
    {"no_square", {"{count: 2, w: 2, h: 1}", "{count: 6}"}, "tray.sips: found count 6 on a grid of 2 x 2"},
    {"no_switch", {"  switch:  ", "  swich:  "}, "tray.switch: missing, with more than one SIP"},
    {"wrong_side", {"side: W", "side: up"}, "sip.io_chiplets[0].side: found 'up'; legal: N, E, S, W"},
    {"side_without_ports",
     {"ports: [N, E, S, W]", "ports: [N, E, S]"},
     "sip.io_chiplets[0].side: found 'W', where no cube"},
    {"place_off_the_cube",
     {"at_mm: [1.5, 9.0]", "at_mm: [99, 9.0]"},
     "cube.sram.at_mm: found a place outside the cube"},
    {"size", {"size_mm: [17.0, 14.0]", "size_mm: [17.0]"}, "cube.size_mm: found a list; legal: a list of two"},
    {"block_of_another_kind",
     {"impl: builtin.hbm_pc", "impl: builtin.sram"},
     "which is of kind sram, on a node of kind hbm_ctrl"},
    {"tcm_smaller_than_its_reserve", {"reserved_mb: 1,", "reserved_mb: 17,"}, "reserved_mb: found 17"},
};

INSTANTIATE_TEST_SUITE_P(Default, Hierarchy, ::testing::ValuesIn(kCases), [](const auto& p) { return p.param.name; });

TEST(hierarchy, faults_of_several_sections_come_together) {
  const std::string faults = all_faults(
      changed("default.yaml",
              {{"overhead_ns: 5.0", "overhead_ns: -5.0"}, {"gap_mm: 1.0 ", "gap: 1.0 "}, {"lanes: 128", "lanes: 0"}}));
  EXPECT_EQ(std::count(faults.begin(), faults.end(), '\n'), 3) << faults;
}

Graph built(const char* file, const std::vector<Change>& changes) {
  return compile_text(changed(file, changes), "t.yaml", catalog);
}

void expect_all_reach_all(const Graph& g) {
  PathRouter router(g);
  for (const Pe& pe : g.pes)
    for (const Memory& m : g.memories)
      ASSERT_TRUE(router.has_path(pe.blocks.at("pe_dma"), m.node)) << pe.id << " to " << g.nodes[m.node].id;
}

TEST(hierarchy, takes_any_grid_and_any_number_of_pes) {
  for (const char* grid : {"grid: [1, 1]", "grid: [7, 3]", "grid: [2, 9]", "grid: [16, 16]"}) {
    for (const char* count : {"count: 1 ", "count: 3 ", "count: 16 "}) {
      SCOPED_TRACE(std::string(grid) + " " + count);
      const Graph g = built("default.yaml", {{"grid: [6, 6]", grid},
                                             {"exclude: [2, 2, 3, 3]", "exclude: [1, 1, 0, 0]"},
                                             {"    exclude: [1, 1, 0, 0]", "    #"},
                                             {"count: 8 ", count},
                                             {"    at: [r0c0", "    # at: [r0c0"},
                                             {"{count: 2, w: 2, h: 1}", "{count: 1}"},
                                             {"cubes: {w: 4, h: 4}", "cubes: {w: 2, h: 2}"}});
      EXPECT_EQ(g.pes.size() % 4, 0u);
      expect_all_reach_all(g);
    }
  }
}

TEST(hierarchy, takes_any_ports_and_several_io_chiplets) {
  const Graph g = built("default.yaml", {{"ports: [N, E, S, W]", "ports: [E, W]"},
                                         {"- side: W", "- side: W\n    - side: E\n    #"},
                                         {"cubes: {w: 4, h: 4}", "cubes: {w: 3, h: 2}"}});
  EXPECT_EQ(g.index_of.count("sip0.io1.pcie_ep"), 1u);
  EXPECT_EQ(g.index_of.count("sip0.cube0.ucie-N"), 0u);
  // Rows are connected only through the IO chiplets.
  expect_all_reach_all(g);
}

TEST(hierarchy, takes_a_crossbar_cube_with_any_number_of_pes) {
  for (const char* count : {"count: 1 ", "count: 2 ", "count: 5 ", "count: 12 "}) {
    SCOPED_TRACE(count);
    expect_all_reach_all(built("latency_model.yaml", {{"count: 8 ", count}}));
  }
}

TEST(hierarchy, changes_a_distance_where_the_file_does) {
  const Graph g =
      built("default.yaml", {{"router_to_sram: {bw_gbs: 128.0}", "router_to_sram: {bw_gbs: 99.0, distance_mm: 3.25}"}});
  const Edge& e = g.edges[g.out_edges[g.index_of.at("sip1.cube2.sram")][0]];
  EXPECT_EQ(e.distance_mm, 3.25);
  EXPECT_EQ(*e.bw_gbs, 99.0);
}

}  // namespace
}  // namespace kernbench::topology::faults_of_a_hierarchy_are_named
