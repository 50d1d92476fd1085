// SPDX-License-Identifier: Apache-2.0
// Do the properties of a kind of node (transit, initiator, memory) follow from its implementations, for user-defined
// kinds too?
#include <gtest/gtest.h>

#include <sstream>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"
#include "kernbench/systemc_models/core/parameters.h"

namespace kernbench::topology {
namespace {

ImplSpec own(const char* impl, const char* kind) {
  return spec_of<BlockParameters>(impl, kind, "");
}

constexpr const char* kRing = R"(nodes:
- {id: cpu, kind: sequencer, impl: custom.sequencer}
- {id: stop, kind: ring_stop, impl: custom.ring_stop}
- {id: pad, kind: scratchpad, impl: custom.scratchpad}
links:
- {from: cpu, to: stop, distance_mm: 1, bw_gbs: 64}
- {from: stop, to: pad, distance_mm: 1, bw_gbs: 64}
memories:
- {node: pad, space: sram, base: 0, size: 4096}
)";

std::vector<ImplSpec> ring() {
  return {own("custom.sequencer", "sequencer").initiator(), own("custom.ring_stop", "ring_stop").transit(),
          own("custom.scratchpad", "scratchpad").memory("sram")};
}

/// The report about the file, or "".
std::string told(const std::vector<ImplSpec>& impls, const std::string& yaml = kRing) {
  try {
    compile_text(yaml, "t.yaml", testing::TestCatalog(impls));
  } catch (const TopologyError& e) {
    return e.what();
  }
  return "";
}

TEST(kinds, of_a_users_own_work_in_a_flat_file) {
  const testing::TestCatalog catalog(ring());
  const Graph g = compile_text(kRing, "t.yaml", catalog);
  EXPECT_TRUE(g.nodes[0].initiator);
  EXPECT_TRUE(g.nodes[1].transit);
  EXPECT_FALSE(g.nodes[0].transit || g.nodes[2].transit);
  EXPECT_EQ(g.nodes[2].space, "sram");
  EXPECT_EQ(PathRouter(g).find_path(0, 2).size(), 2u);
  std::ostringstream drawn;
  print_svg(g, View::flat, drawn);
  EXPECT_NE(drawn.str().find("scratchpad"), std::string::npos);
}

TEST(kinds, that_nobody_says_anything_of_are_ends_that_a_node_may_declare_transit) {
  std::vector<ImplSpec> impls = ring();
  impls[1] = own("custom.ring_stop", "ring_stop");
  EXPECT_NE(told(impls).find("'pad', which no initiator reaches"), std::string::npos) << told(impls);
  std::string yaml = kRing;
  yaml.insert(yaml.find(", impl: custom.ring_stop"), ", transit: true");
  EXPECT_EQ(told(impls, yaml), "");
}

TEST(kinds, of_the_project_are_what_its_own_implementations_say) {
  std::vector<ImplSpec> impls = ring();
  impls.push_back(own("custom.hbm", "hbm_ctrl"));  // declares nothing, so it follows
  impls.push_back(own("custom.other_hbm", "hbm_ctrl").memory("hbm"));
  EXPECT_EQ(told(impls), "");
  impls.push_back(own("custom.gemm", "pe_gemm").transit());
  EXPECT_EQ(told(impls),
            "t.yaml: kind pe_gemm: builtin.pe_gemm says an engine of 1 stages, leads to pe_math, leads to "
            "pe_fetch_store, bound "
            "to pe_tcm; custom.gemm says transit; legal: the same");
}

TEST(kinds, that_implementations_disagree_on_are_told_in_one_line) {
  std::vector<ImplSpec> impls = ring();
  impls.push_back(own("custom.second_pad", "scratchpad").memory("hbm"));
  impls.push_back(own("custom.third_pad", "scratchpad").memory("hbm").initiator());
  EXPECT_EQ(
      told(impls),
      "t.yaml: kind scratchpad: custom.scratchpad says memory sram; custom.second_pad says memory hbm; legal: the "
      "same");
}

TEST(kinds, hold_memory_of_any_space_but_a_pes_own) {
  std::vector<ImplSpec> impls = ring();
  std::string yaml = kRing;
  yaml.replace(yaml.find("space: sram"), 11, "space: flash");
  impls[2] = own("custom.scratchpad", "scratchpad").memory("flash");
  EXPECT_EQ(told(impls, yaml), "");
  for (const std::string space : {"tcm", "Flash"}) {
    impls[2] = own("custom.scratchpad", "scratchpad").memory(space);
    EXPECT_EQ(told(impls), "t.yaml: kind scratchpad: custom.scratchpad says memory " + space +
                               "; legal: hbm, sram, or " + kSpaceNames);
  }
}

TEST(kinds, that_are_legal_are_listed) {
  std::string yaml = kRing;
  yaml.replace(yaml.find("node: pad"), 9, "node: cpu");
  EXPECT_NE(
      told(ring(), yaml).find("found 'cpu' of kind sequencer; legal: a node of kind hbm_ctrl, scratchpad or sram"),
      std::string::npos)
      << told(ring(), yaml);
}

}  // namespace
}  // namespace kernbench::topology
