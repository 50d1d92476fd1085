// SPDX-License-Identifier: Apache-2.0
// Does a flat file compile to the graph of the interface contract? The expected result is the samples' graph.json.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::flat_yaml_compiles_to_the_contracts_graph {
namespace {

using nlohmann::json;
const testing::TestCatalog catalog;

json printed(const Graph& g) {
  std::ostringstream out;
  print_json(g, out);
  return json::parse(out.str());
}

std::vector<std::string> sample_folders() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(KERNBENCH_TEST_DATA "/samples"))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Sample : public ::testing::TestWithParam<std::string> {};

TEST_P(Sample, compiles_to_its_graph_json) {
  const std::string folder = KERNBENCH_TEST_DATA "/samples/" + GetParam();
  json expected = json::parse(std::ifstream(folder + "/graph.json"));
  if (!expected["timing"].contains("flit_bytes")) expected["timing"]["flit_bytes"] = 256;
  EXPECT_EQ(printed(compile_file(folder + "/topology.yaml", catalog)), expected);
}

INSTANTIATE_TEST_SUITE_P(Shared, Sample, ::testing::ValuesIn(sample_folders()), [](const auto& p) { return p.param; });

TEST(flat_yaml, defaults_are_those_of_the_contract) {
  const Graph g = compile_text(R"(
nodes:
- {id: d, kind: pe_dma}
- {id: x, kind: router}
- {id: m, kind: hbm_ctrl, attrs: {efficiency: 0.5}}
links:
- {from: d, to: x, distance_mm: 1.5}
- {from: x, to: m, distance_mm: 0.5, bw_gbs: 100, kind: memory, bidirectional: false}
memories:
- {node: m, space: hbm, base: 0x1000, size: 4096}
)",
                               "t.yaml", catalog);
  EXPECT_EQ(g.ns_per_mm, 0.01);
  EXPECT_EQ(g.timing.links, Links::ideal);
  EXPECT_EQ(g.timing.response, Response::ideal);
  EXPECT_EQ(g.timing.flit_bytes, 256u);
  EXPECT_EQ(g.nodes[1].impl, "builtin.router");
  EXPECT_TRUE(g.nodes[1].transit);
  EXPECT_FALSE(g.nodes[2].transit);
  ASSERT_EQ(g.edges.size(), 3u);  // the first link is bidirectional, its forward edge first
  EXPECT_EQ(g.edges[0].from, 0u);
  EXPECT_EQ(g.edges[1].from, 1u);
  EXPECT_EQ(g.edges[0].kind, "link");
  EXPECT_FALSE(g.edges[0].bw_gbs.has_value());
  EXPECT_EQ(g.effective_bw(0), 0);
  EXPECT_EQ(g.effective_bw(2), 50);  // efficiency applies to the edge at the controller
  ASSERT_NE(g.memory_at(0x1fff), nullptr);
  EXPECT_EQ(g.memory_at(0x1fff)->node, 2u);
  EXPECT_EQ(g.memory_at(0x2000), nullptr);
  EXPECT_EQ(g.memory_at(0xfff), nullptr);
}

TEST(flat_yaml, attributes_are_printed_as_given_in_the_order_of_the_file) {
  const Graph g = compile_text(
      "nodes: [{id: g, kind: pe_gemm, attrs: {freq_ghz: 1.5, rates: {i8: 4, f16: 2}, "
      "macs_per_cycle: 64}}]",
      "t.yaml", catalog);
  std::ostringstream out;
  print_json(g, out);
  EXPECT_NE(out.str().find(R"("attrs": {"freq_ghz": 1.5, "rates": {"f16": 2.0, "i8": 4.0}, "macs_per_cycle": 64.0})"),
            std::string::npos)
      << out.str();
}

TEST(flat_yaml, blocks_that_share_a_prefix_are_a_pe) {
  const Graph g = compile_text(R"(
nodes:
- {id: a.pe1.pe_cpu, kind: pe_cpu}
- {id: a.pe0.pe_dma, kind: pe_dma}
- {id: a.pe1.pe_dma, kind: pe_dma}
- {id: a.pe2.pe_cpu, kind: pe_cpu}
)",
                               "t.yaml", catalog);
  ASSERT_EQ(g.pes.size(), 2u);  // pe2 has no pe_dma; pe1's first block comes first
  EXPECT_EQ(g.pes[0].id, "a.pe1");
  EXPECT_EQ(g.pes[0].blocks.at("pe_dma"), 2u);
  EXPECT_EQ(g.pes[1].id, "a.pe0");
}

TEST(overrides, flit_on_the_command_line_sets_routed_and_beats_the_file) {
  const std::string yaml = "timing: {links: ideal, response: ideal}\nnodes: [{id: d, kind: pe_dma}]";
  Overrides o;
  o.links = Links::flit;
  EXPECT_EQ(compile_text(yaml, "t.yaml", catalog, o).timing.response, Response::routed);
  o.response = Response::ideal;
  EXPECT_THROW(compile_text(yaml, "t.yaml", catalog, o), TopologyError);
  o.links.reset();
  o.response = Response::routed;
  EXPECT_EQ(compile_text(yaml, "t.yaml", catalog, o).timing.response, Response::routed);
  EXPECT_EQ(compile_text("timing: {links: flit}\nnodes: [{id: d, kind: pe_dma}]", "t.yaml", catalog).timing.response,
            Response::routed);
}

}  // namespace
}  // namespace kernbench::topology::flat_yaml_compiles_to_the_contracts_graph
