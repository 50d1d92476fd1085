// SPDX-License-Identifier: Apache-2.0
// `ports` of cubes and IO chiplets: nodes and links of the compiled graph, and error messages.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::ports_attach_where_the_file_says {
namespace {

const testing::TestCatalog catalog;

/// A supplied file with lines added after one of its lines.
std::string with(const char* file, const std::string& line, const std::string& more) {
  std::ifstream in(std::string(KERNBENCH_TOPOLOGIES "/") + file);
  std::string yaml((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const size_t at = yaml.find(line);
  EXPECT_NE(at, std::string::npos);
  return yaml.insert(at + line.size(), more);
}

std::string fault_of(const std::string& yaml) {
  try {
    compile_text(yaml, "t.yaml", catalog);
  } catch (const TopologyError& e) {
    return e.faults().front().to_string();
  }
  return "";
}

TEST(ports, hang_on_routers_of_every_cube_and_on_the_chiplets_noc) {
  std::string yaml = with("small.yaml", "\ncube:\n",
                          "  ports:\n"
                          "    - {at: r0c1, distance_mm: 0.5, bw_gbs: 64}\n"
                          "    - {at: r3c0, bw_gbs: 32, attrs: {overhead_ns: 1.5}}\n");
  const std::string io = "\nio_chiplet:\n";
  yaml.insert(yaml.find(io) + io.size(), "  ports: [{distance_mm: 2, bw_gbs: 16}]\n");
  const Graph g = compile_text(yaml, "t.yaml", catalog);
  const auto link = [&](const char* from, const char* to) -> const Edge* {
    for (const Edge& e : g.edges) {
      if (g.nodes[e.from].id == from && g.nodes[e.to].id == to) return &e;
    }
    return nullptr;
  };
  for (const auto& [from, to, mm, bw] : std::vector<std::tuple<const char*, const char*, double, double>>{
           {"sip0.cube0.port0", "sip0.cube0.r0c1", 0.5, 64},
           {"sip0.cube0.port1", "sip0.cube0.r3c0", 0, 32},
           {"sip0.cube1.port0", "sip0.cube1.r0c1", 0.5, 64},
           {"sip0.io0.port0", "sip0.io0.noc", 2, 16}}) {
    const Edge* there = link(from, to);
    ASSERT_TRUE(there) << from;
    EXPECT_TRUE(link(to, from)) << from;
    EXPECT_EQ(there->kind, "port");
    EXPECT_EQ(there->distance_mm, mm);
    EXPECT_EQ(there->bw_gbs, bw);
  }
  EXPECT_EQ(g.nodes[g.index_of.at("sip0.cube0.port0")].kind, "port");
  EXPECT_FALSE(g.nodes[g.index_of.at("sip0.cube0.port0")].transit);
  EXPECT_EQ(g.nodes[g.index_of.at("sip0.cube1.port1")].attrs.number("overhead_ns", 0), 1.5);
}

TEST(ports, hang_on_a_crossbar_cubes_noc_or_crossbars) {
  const std::string yaml =
      with("latency_model.yaml", "\ncube:\n", "  ports: [{at: noc, bw_gbs: 64}, {at: pe2, bw_gbs: 64}]\n");
  const Graph g = compile_text(yaml, "t.yaml", catalog);
  const auto neighbour = [&](const char* id) { return g.nodes[g.edges[g.out_edges[g.index_of.at(id)].front()].to].id; };
  EXPECT_EQ(neighbour("sip0.cube0.port0"), "sip0.cube0.noc");
  EXPECT_EQ(neighbour("sip0.cube0.port1"), "sip0.cube0.xbar.pe2");
}

TEST(ports, that_are_wrong_are_named) {
  const auto port = [](const std::string& text) {
    return fault_of(with("small.yaml", "\ncube:\n", "  ports: [" + text + "]\n"));
  };
  EXPECT_NE(port("{at: r1c1, bw_gbs: 1}").find("cube.ports[0].at: found 'r1c1'"), std::string::npos) << "the hole";
  EXPECT_NE(port("{at: r9c0, bw_gbs: 1}").find("cube.ports[0].at"), std::string::npos);
  EXPECT_NE(port("{bw_gbs: 1}").find("cube.ports[0].at: missing"), std::string::npos);
  EXPECT_NE(port("{at: r0c0}").find("cube.ports[0].bw_gbs: missing"), std::string::npos);
  EXPECT_NE(port("{at: r0c0, bw_gbs: 0}").find("cube.ports[0].bw_gbs"), std::string::npos);
  EXPECT_NE(port("{at: r0c0, bw_gbs: 1, widht: 3}").find("cube.ports[0].widht"), std::string::npos);
  EXPECT_NE(port("{at: r0c0, bw_gbs: 1, attrs: {outstandign: 3}}").find("outstandign"), std::string::npos);
}

}  // namespace
}  // namespace kernbench::topology::ports_attach_where_the_file_says
