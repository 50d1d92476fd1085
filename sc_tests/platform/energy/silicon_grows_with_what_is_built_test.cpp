// SPDX-License-Identifier: Apache-2.0
// Areas by hand: each count of a small machine, and the parts that grow with each of its components.
#include <gtest/gtest.h>

#include "kernbench/platform/energy/silicon.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::testing::silicon_grows_with_what_is_built_test {
namespace {

using energy::Action;
using energy::Constant;
using energy::Unit;

energy::EnergyTable table() {
  energy::EnergyTable t;
  const auto add = [&](const std::string& name, Unit unit, int64_t value) {
    t.constants[name] = {
        name,    unit, value * energy::kParts, value * energy::kParts, value * energy::kParts, energy::Quality::assumed,
        "a test"};
  };
  for (const char* each : {"area.mac.f16", "area.lane", "area.sram_port", "area.crosspoint", "area.buffer"})
    add(each, Unit::um2, 1);
  add("area.mac.f32", Unit::um2, 3);
  add("area.sram", Unit::um2_bit, 1);
  add("area.hbm_phy", Unit::mm2, 16);
  add("area.ucie_phy", Unit::mm2_gbs, 1);
  add("area.pcie_phy", Unit::mm2_gbs, 1);
  add("hbm.stack_gbs", Unit::gbs, 100);
  add("hbm.stack_gb", Unit::gb, 1);
  return t;
}

energy::Silicon of(const std::string& yaml, const energy::EnergyTable& t = table()) {
  energy::Built built;
  built.tcm_bytes = [](uint32_t node) { return node == 2 ? 1000 : 0; };  // of kEngines
  built.memory_gbs = [](uint32_t) { return 150; };
  return energy::silicon_of(topology::compile_text(yaml, "t.yaml", component_catalog()), component_catalog(), t, built);
}

uint64_t count(const energy::Silicon& s, const std::string& constant) {
  uint64_t sum = 0;
  for (const Action& a : s.area) sum += a.constant == constant ? a.count : 0;
  return sum;
}

const std::string kEngines = R"(nodes:
- {id: p.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 64, freq_ghz: 1, rates: {f16: 1, f32: 0.5}}}
- {id: p.pe_math, kind: pe_math, attrs: {lanes: 8, freq_ghz: 1}}
- {id: p.pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0.5, read_bw_gbs: 2, write_bw_gbs: 4}}
)";

TEST(Silicon, CountsEnginesAndMemories) {
  const energy::Silicon s = of(kEngines);
  EXPECT_EQ(count(s, "area.mac.f32"), 32u);  // 32 x 3 um2, more than 64 x 1
  EXPECT_EQ(count(s, "area.mac.f16"), 0u);
  EXPECT_EQ(count(s, "area.lane"), 8u);
  EXPECT_EQ(count(s, "area.sram"), 8000u);
  EXPECT_EQ(count(s, "area.sram_port"), 48u);  // 6 GB/s
  ASSERT_EQ(s.dies.size(), 1u);
  EXPECT_EQ(s.packages, 1u);
  EXPECT_EQ(s.dies[0].area.value, s.area_1e9_um2.value);
  EXPECT_EQ(s.area_1e9_um2.value, energy::Rontojoules{96 + 8 + 8000 + 48} * energy::kParts);
}

TEST(Silicon, TwiceTheMacsIsTwiceTheArray) {
  std::string twice = kEngines;
  twice.replace(twice.find("64"), 2, "128");
  EXPECT_EQ(count(of(twice), "area.mac.f32"), 64u);
}

TEST(Silicon, OfRoutersGrowsWithPortsWidthAndBuffers) {
  const auto system = [](const std::string& attrs, const std::string& gbs) {
    return "timing: {links: flit, response: routed}\nnodes:\n- {id: a, kind: router, attrs: {" + attrs +
           "}}\n- {id: b, kind: router}\nlinks:\n- {from: a, to: b, " + "distance_mm: 1, bw_gbs: " + gbs + "}\n";
  };
  const energy::Silicon s = of(system("", "2"));
  EXPECT_EQ(count(s, "area.crosspoint"), 2 * 16u * 16u);
  EXPECT_EQ(count(s, "area.buffer"), 2 * 16u * 2 * 4);  // four flits of requests and of responses by default
  EXPECT_EQ(count(of(system("", "4")), "area.crosspoint"), 4 * count(s, "area.crosspoint"));
  EXPECT_EQ(count(of(system("buffer_flits: 8, vcs: 3", "2")), "area.buffer"), 16u * 2 * 4 + 16u * 2 * 3 * 8);
}

TEST(Silicon, CountsStacksByWhatIsMore) {
  const auto system = [](const std::string& size) {
    return "nodes:\n- {id: p.pe_dma, kind: pe_dma}\n- {id: h, kind: hbm_ctrl}\nlinks:\n- {from: p.pe_dma, to: h, "
           "distance_mm: 1, bw_gbs: 8}\nmemories:\n- {node: h, space: hbm, base: 0, size: " +
           size + "}\n";
  };
  EXPECT_EQ(of(system("4096")).hbm_stacks, 2u);  // 150 of 100 GB/s
  const energy::Silicon large = of(system("5000000000"));
  EXPECT_EQ(large.hbm_stacks, 5u);
  EXPECT_EQ(large.hbm_bytes, 5'000'000'000u);
  EXPECT_EQ(count(large, "area.hbm_phy"), 5u);
}

TEST(Silicon, ASharedMemoryIsACacheWhereTheTableHasOne) {
  const std::string yaml =
      "nodes:\n- {id: p.pe_dma, kind: pe_dma}\n- {id: s, kind: sram}\nlinks:\n- {from: p.pe_dma, to: s, distance_mm: "
      "1, "
      "bw_gbs: 8}\nmemories:\n- {node: s, space: sram, base: 0, size: 4096}\n";
  EXPECT_EQ(count(of(yaml), "area.sram"), 8u * 4096);
  energy::EnergyTable t = table();
  t.constants["area.cache"] = {"area.cache", Unit::um2_bit, 1, 2, 3, energy::Quality::assumed, "a test"};
  EXPECT_EQ(count(of(yaml, t), "area.cache"), 8u * 4096);
  EXPECT_EQ(count(of(yaml, t), "area.sram"), 0u);
  EXPECT_EQ(count(of(kEngines, t), "area.sram"), 8000u);  // a TCM is not counted
}

TEST(Silicon, ABlockWithAnAreaOfItsOwnHasThat) {
  energy::EnergyTable t = table();
  t.constants["area.pe_gemm"] = {"area.pe_gemm", Unit::mm2, 1, 2, 3, energy::Quality::assumed, "a test"};
  EXPECT_EQ(count(of(kEngines, t), "area.pe_gemm"), 1u);
  EXPECT_EQ(count(of(kEngines, t), "area.mac.f32"), 0u);
  t.constants["area.pe_tcm"] = {"area.pe_tcm", Unit::mm2, 1, 2, 3, energy::Quality::assumed, "a test"};
  EXPECT_EQ(count(of(kEngines, t), "area.pe_tcm"), 1u);
  EXPECT_EQ(count(of(kEngines, t), "area.sram"), 0u);
}

TEST(Silicon, OfATableWithoutAreasIsNone) {
  const energy::Silicon s = of(kEngines, energy::EnergyTable());
  EXPECT_TRUE(s.dies.empty());
  EXPECT_EQ(s.packages, 0u);
  EXPECT_EQ(s.area_1e9_um2.value, 0);
}

}  // namespace
}  // namespace kernbench::testing::silicon_grows_with_what_is_built_test
