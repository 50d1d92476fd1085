// SPDX-License-Identifier: Apache-2.0
// A foreign node on a link leaves paths and bandwidths unchanged; impossible positions are reported with their place in
// the file.
#include <gtest/gtest.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::foreign_nodes_stand_on_links {
namespace {

const testing::TestCatalog catalog;

// Two paths of equal length from a to m: by x, which is first, and by y.
const char* const kDiamond = R"(
nodes:
- {id: a.pe_dma, kind: pe_dma}
- {id: x, kind: router}
- {id: y, kind: router}
- {id: m, kind: hbm_ctrl, impl: builtin.hbm_ctrl, attrs: {efficiency: 0.5}}
links:
- {from: a.pe_dma, to: x, distance_mm: 1, bw_gbs: 64}
- {from: a.pe_dma, to: y, distance_mm: 1, bw_gbs: 64}
- {from: x, to: m, distance_mm: 1, bw_gbs: 64}
- {from: y, to: m, distance_mm: 1, bw_gbs: 64}
memories:
- {node: m, space: hbm, base: 0, size: 4096}
)";

std::string fault_of(const std::string& section) {
  try {
    compile_text(std::string(kDiamond) + section, "f.yaml", catalog);
  } catch (const TopologyError& e) {
    return e.what();
  }
  return "none";
}

TEST(ForeignNode, leaves_the_way_and_the_bandwidth_of_its_link) {
  const Graph g = compile_text(std::string(kDiamond) + "foreign: [{id: tap, between: [x, m]}]\n", "f.yaml", catalog);
  const uint32_t a = g.index_of.at("a.pe_dma"), m = g.index_of.at("m"), tap = g.index_of.at("tap");
  PathRouter router(g);
  std::vector<std::string> ids;
  for (const uint32_t e : router.find_path(a, m)) ids.push_back(g.nodes[g.edges[e].to].id);
  EXPECT_EQ(ids, (std::vector<std::string>{"x", "tap", "m"}));
  EXPECT_EQ(router.reversed(router.find_path(a, m)).size(), 3u);
  for (const uint32_t e : g.out_edges[g.index_of.at("x")]) {
    if (g.edges[e].to == tap) {
      EXPECT_EQ(g.effective_bw(e), 32);
    }
  }
  for (const uint32_t e : g.out_edges[tap]) {
    EXPECT_EQ(g.effective_bw(e), 0);
    EXPECT_EQ(g.edges[e].distance_mm, 0);
  }
  EXPECT_EQ(ends_behind(g, tap), (std::vector<uint32_t>{g.index_of.at("x"), m}));
  EXPECT_FALSE(inside_pe(g, tap));
}

TEST(ForeignNode, that_cannot_be_is_told_in_one_line) {
  EXPECT_EQ(fault_of("foreign: [{id: tap, between: [x, nowhere]}]\n"),
            "f.yaml:14: foreign[0].between: found 'nowhere', which is no node; legal: the id of a node");
  EXPECT_EQ(fault_of("foreign: [{id: tap, between: [x, y]}]\n"),
            "f.yaml:14: foreign[0].between: found no edge between 'x' and 'y'; legal: two neighbours");
  EXPECT_EQ(fault_of("foreign: [{id: x, between: [x, m]}]\n"),
            "f.yaml:14: foreign[0].between: found 'x' a second time; legal: an id of its own");
  EXPECT_NE(fault_of("foreign: [{id: tap, between: x}]\n").find("f.yaml:14: foreign[0].between: "), std::string::npos);
  EXPECT_NE(fault_of("foreign: tap\n").find("legal: a list"), std::string::npos);
}

// The edges inside a PE are those of the file. A missing edge that its blocks require is reported by name.
const char* const kPe = R"(
nodes:
- {id: p.pe_dma, kind: pe_dma}
- {id: p.pe_fetch_store, kind: pe_fetch_store}
- {id: p.pe_scheduler, kind: pe_scheduler}
)";

TEST(EdgesInsideAPe, that_are_missing_are_named) {
  const Graph standard = compile_text(kPe, "f.yaml", catalog);
  EXPECT_EQ(edges_inside(standard, standard.pes.at(0)).size(), 4u);
  const std::string links = std::string(kPe) +
                            "links:\n- {from: p.pe_scheduler, to: p.pe_dma, distance_mm: 0}\n"
                            "- {from: p.pe_dma, to: p.pe_fetch_store, distance_mm: 0}\n";
  try {
    compile_text(links, "f.yaml", catalog);
    FAIL() << "an edge is missing";
  } catch (const TopologyError& e) {
    EXPECT_NE(std::string(e.what()).find("found no edge 'p.pe_scheduler -> p.pe_fetch_store'"), std::string::npos)
        << e.what();
  }
}

// Blocks that are bound without an edge get one when a foreign node is put between them; the others keep theirs.
TEST(EdgesInsideAPe, that_are_none_can_be_observed) {
  const std::string pe = std::string(kPe) +
                         "- {id: p.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 1, freq_ghz: 1}}\n" +
                         "- {id: p.pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0.5, read_bw_gbs: 1, "
                         "write_bw_gbs: 1}}\n";
  const auto tapped = [&](const std::string& between) {
    return compile_text(pe + "foreign: [{id: tap, between: " + between + "}]\n", "f.yaml", catalog);
  };
  const Graph plain = compile_text(pe, "f.yaml", catalog), g = tapped("[p.pe_tcm, p.pe_gemm]");
  const uint32_t tap = g.index_of.at("tap");
  EXPECT_EQ(plain.edges.size(), 0u);
  EXPECT_EQ(g.edges.size(), 2u);
  EXPECT_TRUE(inside_pe(g, tap));
  const std::vector<PeEdge> before = edges_inside(plain, plain.pes.at(0)), after = edges_inside(g, g.pes.at(0));
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after[0].from, g.index_of.at("p.pe_gemm"));
  EXPECT_EQ(after[0].to, g.index_of.at("p.pe_tcm"));
  EXPECT_EQ(after[0].first, (std::vector<uint32_t>{tap}));
  EXPECT_EQ(after[0].last, (std::vector<uint32_t>{tap}));
  EXPECT_THROW(tapped("[p.pe_tcm, p.pe_dma]"), TopologyError) << "they have no sockets to each other";
}

}  // namespace
}  // namespace kernbench::topology::foreign_nodes_stand_on_links
