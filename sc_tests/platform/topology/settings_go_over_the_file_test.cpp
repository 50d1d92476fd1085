// SPDX-License-Identifier: Apache-2.0
// A setting gives the same graph as a file that contains the value. A setting that matches nothing, or is illegal where
// it matches, is reported.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::settings_go_over_the_file {
namespace {

const testing::TestCatalog catalog;

const char* const kFile = R"(
nodes:
- {id: p0.pe_dma, kind: pe_dma, attrs: {rd_engines: 2}}
- {id: p0.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 64, freq_ghz: 1.0}}
- {id: p1.pe_dma, kind: pe_dma, attrs: {rd_engines: 2}}
- {id: r, kind: router}
- {id: m, kind: hbm_ctrl, impl: builtin.hbm_pc, attrs: {pseudo_channels: 4, interleave_bytes: 256, pc_bw_gbs: 32, burst_bytes: 64}}
links:
- {from: p0.pe_dma, to: r, distance_mm: 1, bw_gbs: 64, kind: pe}
- {from: p1.pe_dma, to: r, distance_mm: 1, bw_gbs: 64, kind: pe}
- {from: r, to: m, distance_mm: 2, bw_gbs: 128, kind: memory}
memories:
- {node: m, space: hbm, base: 0, size: 4096}
)";

std::string printed(const Graph& g) {
  std::ostringstream out;
  print_json(g, out);
  return out.str();
}

std::string with(const std::vector<Setting>& settings) {
  Overrides o;
  o.settings = settings;
  return printed(compile_text(kFile, "f.yaml", catalog, o));
}

std::string with_file(const std::string& pattern, const std::string& text) {
  return printed(compile_text(std::regex_replace(std::string(kFile), std::regex(pattern), text), "f.yaml", catalog));
}

std::string fault_of(const std::vector<Setting>& settings) {
  try {
    with(settings);
  } catch (const TopologyError& e) {
    EXPECT_EQ(e.faults().size(), 1u) << e.what();
    return e.faults().front().to_string();
  }
  return "none";
}

TEST(Settings, are_as_if_the_file_said_so) {
  EXPECT_EQ(with({{"p0.pe_gemm.freq_ghz", 1.5}}), with_file("freq_ghz: 1.0", "freq_ghz: 1.5"));
  EXPECT_EQ(with({{"p?.pe_dma.rd_engines", 3}}), with_file("rd_engines: 2", "rd_engines: 3"));
  EXPECT_EQ(with({{"edge:pe.bw_gbs", 16}}), with_file("bw_gbs: 64", "bw_gbs: 16"));
  EXPECT_EQ(with({{"edge:r->m.distance_mm", 5}, {"edge:m->r.distance_mm", 5}}),
            with_file("distance_mm: 2", "distance_mm: 5"));
  EXPECT_EQ(with({{"p0.pe_gemm.rates", "{f16: 128}"}}), with_file("freq_ghz: 1.0", "freq_ghz: 1.0, rates: {f16: 128}"));
}

TEST(Settings, count_in_their_order) {
  EXPECT_EQ(with({{"*.freq_ghz", 3}, {"p0.pe_gemm.freq_ghz", 1.5}}), with_file("freq_ghz: 1.0", "freq_ghz: 1.5"));
}

TEST(Settings, one_of_many_nodes_that_has_the_attribute_is_enough) {
  EXPECT_EQ(with({{"*.freq_ghz", 2}}), with_file("freq_ghz: 1.0", "freq_ghz: 2"));
}

TEST(Settings, go_together_when_all_are_made) {
  EXPECT_EQ(fault_of({{"m.burst_bytes", 96}}), "f.yaml: --set: burst_bytes of 'm': does not go with interleave_bytes");
  EXPECT_EQ(with({{"m.burst_bytes", 96}, {"m.interleave_bytes", 192}}),
            with_file("interleave_bytes: 256(.*)burst_bytes: 64", "interleave_bytes: 192$1burst_bytes: 96"));
}

TEST(Settings, of_the_file_are_as_if_it_said_so) {
  EXPECT_EQ(with({{"file:nodes[1].attrs.freq_ghz", 1.5}}), with_file("freq_ghz: 1.0", "freq_ghz: 1.5"));
  EXPECT_EQ(with({{"file:nodes[1].attrs", "{macs_per_cycle: 64, freq_ghz: 2.0}"}}),
            with_file("freq_ghz: 1.0", "freq_ghz: 2.0"));
  // Missing keys are created; the last setting counts; settings of the graph override all of them.
  EXPECT_EQ(with({{"file:nodes[3].attrs.overhead_ns", 3}}),
            with_file("kind: router", "kind: router, attrs: {overhead_ns: 3}"));
  EXPECT_EQ(
      with({{"r.overhead_ns", 5}, {"file:timing.links", "flit"}, {"file:timing.links", "cut_through"}}),
      with_file("kind: router\\}([^]*)$", "kind: router, attrs: {overhead_ns: 5}}$1timing: {links: cut_through}\n"));
}

TEST(Settings, of_the_file_leave_what_an_alias_leads_to) {
  const std::string aliased = std::regex_replace(
      std::regex_replace(std::string(kFile), std::regex("id: p0.pe_dma, kind: pe_dma, attrs:"), "$& &same"),
      std::regex("(id: p1.pe_dma, kind: pe_dma, attrs: )\\{rd_engines: 2\\}"), "$1*same");
  ASSERT_NE(aliased.find("*same"), std::string::npos);
  Overrides o;
  o.settings = {{"file:nodes[2].attrs.rd_engines", 3}};
  EXPECT_EQ(printed(compile_text(aliased, "f.yaml", catalog, o)), with({{"p1.pe_dma.rd_engines", 3}}));
}

TEST(Settings, of_the_file_that_cannot_be_are_told) {
  EXPECT_EQ(fault_of({{"file:links[3].bw_gbs", 1}}),
            "f.yaml: --set file:links[3].bw_gbs: found [3] in a list; legal: an item of a list");
  EXPECT_EQ(fault_of({{"file:nodes[0].id.x", 1}}),
            "f.yaml: --set file:nodes[0].id.x: found 'x' in 'p0.pe_dma'; legal: a key of a map");
  for (const char* way : {"file:", "file:a..b", "file:a[", "file:a[x]", "file:a[1", "file:a[99999999999999999999]",
                          "file:[0]", "file:.a"})
    EXPECT_NE(fault_of({{way, 1}}).find("found no keys; legal: file:KEY.KEY=VALUE"), std::string::npos) << way;
  EXPECT_EQ(fault_of({{"file:nods", "[]"}}).find("nods: unknown key, did you mean 'nodes'?"), sizeof("f.yaml:2: ") - 1);
  std::string deep = "file:a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  EXPECT_NE(fault_of({{deep, 1}}).find("found no keys"), std::string::npos);
  EXPECT_NE(fault_of({{"file:ns_per_mm", " ~"}}).find("--set file:ns_per_mm: found nothing; legal: a value"),
            std::string::npos);
  EXPECT_NE(fault_of({{"file:ns_per_mm", "fast"}}).find("ns_per_mm: found 'fast'"), std::string::npos);
  EXPECT_NE(fault_of({{"file:ns_per_mm", "{f16"}}).find("broken YAML"), std::string::npos);
}

TEST(Settings, that_cannot_be_are_told) {
  EXPECT_EQ(fault_of({{"q*.freq_ghz", 1}}),
            "f.yaml: --set q*.freq_ghz: matches no node; legal: a shell pattern of node ids, then .ATTR");
  EXPECT_EQ(fault_of({{"p0.pe_dma.freq_ghz", 1}}),
            "f.yaml: --set p0.pe_dma.freq_ghz: no node that it matches has 'freq_ghz'; legal: join_pieces, "
            "outstanding, overhead_ns, "
            "queue_depth, range_bytes, rd_engines, wr_engines");
  EXPECT_NE(fault_of({{"p0.pe_gemm.freq_ghz", "fast"}}).find("--set p0.pe_gemm.freq_ghz: found 'fast'"),
            std::string::npos);
  EXPECT_NE(fault_of({{"edge:wire.bw_gbs", 1}})
                .find("matches no edge; legal: a shell pattern of 'FROM->TO' or of a "
                      "kind: memory, pe"),
            std::string::npos);
  EXPECT_NE(fault_of({{"edge:pe.bw_gbs", 0}}).find("edge:pe.bw_gbs: found '0'"), std::string::npos);
  EXPECT_NE(fault_of({{"edge:pe.colour", 1}}).find("found 'colour'; legal: bw_gbs, distance_mm"), std::string::npos);
  EXPECT_NE(fault_of({{"freq_ghz", 1}}).find("found no attribute"), std::string::npos);
  EXPECT_NE(fault_of({{"p0.pe_gemm.rates", "{f16"}}).find("broken YAML"), std::string::npos);
}

}  // namespace
}  // namespace kernbench::topology::settings_go_over_the_file
