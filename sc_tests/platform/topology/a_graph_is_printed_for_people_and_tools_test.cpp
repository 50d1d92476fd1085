// SPDX-License-Identifier: Apache-2.0
// Are the printed forms complete, well formed and reproducible?
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::a_graph_is_printed_for_people_and_tools {
namespace {

const testing::TestCatalog catalog;

Graph shipped(const std::string& name) {
  return compile_file(KERNBENCH_TOPOLOGIES "/" + name, catalog);
}

std::string svg(const Graph& g, View view, const std::string& id = "") {
  std::ostringstream out;
  print_svg(g, view, out, id);
  return out.str();
}

/// Tags open and close in order; the writer uses no comments and no CDATA.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-z]+)([^<>]*?)(/?)>");
  for (std::sregex_iterator it(xml.begin(), xml.end(), tag), end; it != end; ++it) {
    if ((*it)[4].length() > 0) continue;
    if ((*it)[1].length() == 0) {
      open.push_back((*it)[2]);
    } else {
      if (open.empty() || open.back() != (*it)[2]) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

size_t count_of(const std::string& text, const std::string& piece) {
  size_t n = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++n;
  return n;
}

TEST(text, says_what_the_machine_is) {
  std::ostringstream out;
  print_text(shipped("default.yaml"), out);
  for (const char* piece : {"default.yaml: 2 SIPs, 32 cubes, 256 PEs; 4,335 nodes, 12,412 edges",
                            "timing: links cut_through, response routed, header 16 B, flit 256 B, wire 0.01 ns/mm",
                            "x 6 GiB", "1.5 TiB in all", "256 GB/s each", "65.54 TB/s in all", "8.19 TFLOP/s each"})
    EXPECT_NE(out.str().find(piece), std::string::npos) << piece << "\n" << out.str();
}

TEST(json, of_every_shipped_topology_reads_back) {
  for (const char* file : {"default.yaml", "small.yaml", "latency_model.yaml", "one_cube.yaml", "six_sip_torus.yaml"}) {
    const Graph g = shipped(file);
    std::ostringstream out;
    print_json(g, out);
    const auto json = nlohmann::json::parse(out.str());
    EXPECT_EQ(json["nodes"].size(), g.nodes.size()) << file;
    EXPECT_EQ(json["edges"].size(), g.edges.size()) << file;
    EXPECT_EQ(json["memories"].size(), g.memories.size()) << file;
  }
}

TEST(json, of_the_largest_machine_is_compiled_and_printed_in_seconds) {
  const auto start = std::chrono::steady_clock::now();
  const Graph g = shipped("big.yaml");
  std::ostringstream out;
  print_json(g, out);
  EXPECT_EQ(g.pes.size(), 4096u);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10.0);
}

TEST(svg, is_well_formed_and_the_same_every_time) {
  for (const char* file : {"default.yaml", "small.yaml", "latency_model.yaml", "six_sip_torus.yaml"}) {
    const Graph g = shipped(file);
    for (const View view : {View::tray, View::sip, View::cube, View::pe, View::flat}) {
      const std::string picture = svg(g, view);
      EXPECT_TRUE(well_formed(picture)) << file;
      EXPECT_EQ(picture, svg(g, view)) << file;
    }
  }
}

TEST(svg, of_a_cube_shows_each_part_and_the_bandwidth_of_each_mesh_link) {
  const Graph g = shipped("default.yaml");
  const std::string picture = svg(g, View::cube, "sip1.cube7");
  for (const char* id : {"r0c0", "r5c5", "m_cpu", "sram", "hbm_ctrl.pe7", "pe3", "ucie-W"})
    EXPECT_EQ(count_of(picture, std::string("<title>sip1.cube7.") + id + "</title>"), 1u) << id;
  EXPECT_EQ(count_of(picture, ">256</text>"), 48u);           // mesh links
  EXPECT_EQ(count_of(picture, ">256 GB/s</text>"), 8u + 8u);  // PEs and their HBM slices
  EXPECT_EQ(count_of(picture, "sip0"), 0u);
}

TEST(svg, of_a_part_that_is_not_there_is_refused) {
  const Graph g = shipped("small.yaml");
  EXPECT_THROW(svg(g, View::cube, "sip0.cube9"), std::invalid_argument);
  EXPECT_THROW(svg(g, View::sip, "sip7"), std::invalid_argument);
  EXPECT_THROW(svg(g, View::pe, "nobody"), std::invalid_argument);
}

TEST(views, of_a_flat_graph_show_all_its_nodes) {
  const Graph g = compile_text(R"(
nodes:
- {id: "d<1>", kind: pe_dma}
- {id: x, kind: router}
- {id: m, kind: sram}
- {id: alone, kind: router}
links:
- {from: "d<1>", to: x, distance_mm: 1, bw_gbs: 64}
- {from: x, to: m, distance_mm: 1, bw_gbs: 32, bidirectional: false}
)",
                               "t.yaml", catalog);
  EXPECT_EQ(default_view(g), View::flat);
  const std::string picture = svg(g, View::flat);
  EXPECT_TRUE(well_formed(picture));
  for (const char* id : {"d&lt;1&gt;", "x", "m", "alone"})
    EXPECT_EQ(count_of(picture, std::string("<title>") + id + "</title>"), 1u);
  std::ostringstream dot;
  print_dot(g, View::flat, dot);
  EXPECT_NE(dot.str().find("\"d<1>\" -- \"x\" [color=\"#7a828c\", label=\"64\"]"), std::string::npos) << dot.str();
  EXPECT_NE(dot.str().find("\"x\" -- \"m\" [color=\"#7a828c\", label=\"32\", dir=forward]"), std::string::npos);
}

TEST(views, have_names) {
  EXPECT_EQ(parse_view("tray"), View::tray);
  EXPECT_EQ(parse_view("pe"), View::pe);
  EXPECT_EQ(parse_view("moon"), std::nullopt);
  EXPECT_EQ(default_view(shipped("small.yaml")), View::tray);
}

}  // namespace
}  // namespace kernbench::topology::a_graph_is_printed_for_people_and_tools
