// SPDX-License-Identifier: Apache-2.0
// A constant without a source, in a wrong unit, outside its range or with an unknown name is reported in one line with
// file and line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernbench/phase2/energy/energy_table.h"
#include "kernbench/phase2/op/math_op.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/read/energy_reader.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology {
namespace {

const testing::TestCatalog catalog;

std::string system_with(const std::string& energy) {
  return "nodes:\n- {id: x, kind: router}\nenergy:" + energy;
}

/// All lines of a system's faults.
std::string faults_of(const std::string& energy) {
  std::string lines;
  try {
    compile_text(system_with(energy), "t.yaml", catalog);
  } catch (const TopologyError& e) {
    for (const Fault& f : e.faults()) lines += f.to_string() + "\n";
  }
  return lines;
}

constexpr const char* kWire = "{value: 0.07, unit: pJ/bit/mm, source: s, quality: computed, range: [0.02, 0.14]}";

TEST(EnergySection, IsRead) {
  const std::string yaml = system_with(std::string(" {name: mine, wire: ") + kWire +
                                       ", mac: {f16: {value: 0.5, unit: pJ, source: who, quality: primary, range: "
                                       "[0.5, 1]}}, sram: [{size_kb: 8, access: {value: 0.1, unit: pJ/bit, source: s, "
                                       "quality: assumed, range: [0.1, 0.1]}}]}\n");
  const Graph graph = compile_text(yaml, "t.yaml", catalog);
  ASSERT_TRUE(graph.energy);
  EXPECT_EQ(graph.energy->name, "mine");
  const energy::Constant* wire = graph.energy->find("wire");
  ASSERT_TRUE(wire);
  EXPECT_EQ(wire->value, 70'000'000);
  EXPECT_EQ(wire->low, 20'000'000);
  EXPECT_EQ(wire->high, 140'000'000);
  EXPECT_EQ(wire->quality, energy::Quality::computed);
  EXPECT_EQ(graph.energy->find("mac.f16")->source, "who");
  EXPECT_EQ(graph.energy->find("mac.f32"), nullptr);
  ASSERT_EQ(graph.energy->srams.size(), 1u);
  EXPECT_EQ(graph.energy->srams[0].bytes, 8192u);
  EXPECT_FALSE(compile_text("nodes:\n- {id: x, kind: router}\n", "t.yaml", catalog).energy);
}

TEST(EnergySection, RefusesWhatNobodyAnswersFor) {
  struct Wrong {
    const char* energy;
    const char* fault;
  };
  for (const Wrong& w : std::initializer_list<Wrong>{
           {" {wire: {value: 1, unit: pJ/bit/mm, quality: assumed, range: [1, 1]}}",
            "t.yaml:3: energy.wire.source: missing; legal: a text that says where the number comes from\n"},
           {" {wire: {value: 1, unit: pJ/bit/mm, source: '  ', quality: assumed, range: [1, 1]}}",
            "t.yaml:3: energy.wire.source: found blanks; legal: a text that says where the number comes from\n"},
           {" {wire: {value: 1, unit: pJ/bit, source: s, quality: assumed, range: [1, 1]}}",
            "t.yaml:3: energy.wire.unit: found 'pJ/bit'; legal: pJ/bit/mm\n"},
           {" {wire: {value: 1, source: s, quality: assumed, range: [1, 1]}}",
            "t.yaml:3: energy.wire.unit: missing; legal: pJ/bit/mm\n"},
           {" {wire: {value: 1, unit: pJ/bit/mm, source: s, quality: good, range: [1, 1]}}",
            "t.yaml:3: energy.wire.quality: found 'good'; legal: primary, secondary, assumed, computed\n"},
           {" {wire: {value: 1, unit: pJ/bit/mm, source: s, quality: assumed, range: [1.5, 2]}}",
            "t.yaml:3: energy.wire.range: found [1.5, 2], which does not hold the value 1; legal: [low, high] around "
            "it\n"},
           {" {wire: {value: 1, unit: pJ/bit/mm, source: s, quality: assumed, range: 1}}",
            "t.yaml:3: energy.wire.range: found '1'; legal: a list of two, each a number >= 0 and <= 1000000000 "
            "(pJ/bit/mm)\n"},
           {" {wire: {value: -1, unit: pJ/bit/mm, source: s, quality: assumed, range: [0, 1]}}",
            "t.yaml:3: energy.wire.value: found '-1'; legal: a number >= 0 and <= 1000000000 (pJ/bit/mm)\n"},
           {" {wire: {value: 1, unit: pJ/bit/mm, source: s, quality: assumed, range: [1, 1], from: me}}",
            "t.yaml:3: energy.wire.from: unknown key; legal: value, unit, source, quality, range\n"},
           {" {wires: {value: 1}}", "t.yaml:3: energy.wires: unknown key, did you mean 'wire'?"},
           {" {math: {other: {value: 1}}}", "t.yaml:3: energy.math.other: unknown key"},
           {" {mac: {f61: {value: 1}}}", "t.yaml:3: energy.mac.f61: unknown key, did you mean"},
           {" {sram: [{size_kb: 8}]}",
            "t.yaml:3: energy.sram[0].access: missing; legal: a constant, or read and write\n"},
           {" {sram: {size_kb: 8}}", "t.yaml:3: energy.sram: found a mapping; legal: a list of at most 100 sizes\n"},
           {" 5", "5: cannot be read: No such file or directory; legal: a YAML file\n"},
           {" [1]", "t.yaml:3: energy: found a list; legal: a mapping\n"}}) {
    const std::string found = faults_of(std::string(w.energy) + "\n");
    EXPECT_EQ(found.substr(0, std::string(w.fault).size()), w.fault) << found;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << found;
  }
}

TEST(EnergySection, RefusesASizeThatStandsTwice) {
  const std::string point =
      "{size_kb: 8, access: {value: 1, unit: pJ/bit, source: s, quality: assumed, range: [1, 1]}}";
  EXPECT_EQ(faults_of(" {sram: [" + point + ", " + point + "]}\n"),
            "t.yaml:3: energy.sram[1].size_kb: found a size for the second time; legal: once\n");
}

TEST(EnergySection, MayBeAFileBesideTheTopology) {
  std::string name = (std::filesystem::temp_directory_path() / "kernbench_energy-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  std::ofstream(folder / "table.yaml") << "# a table\nwire: " << kWire << "\n";
  std::ofstream(folder / "system.yaml") << system_with(" table.yaml\n");
  const Graph graph = compile_file((folder / "system.yaml").string(), catalog);
  ASSERT_TRUE(graph.energy);
  EXPECT_EQ(graph.energy->name, "table.yaml");
  EXPECT_EQ(graph.energy->find("wire")->value, 70'000'000);
  std::ofstream(folder / "table.yaml") << "wire:\n  value: 1\n";
  try {
    compile_file((folder / "system.yaml").string(), catalog);
    ADD_FAILURE();
  } catch (const TopologyError& e) {
    EXPECT_EQ(e.faults().front().to_string().find((folder / "table.yaml").string() + ":2: wire.unit: missing"), 0u)
        << e.what();
  }
  std::filesystem::remove_all(folder);
}

TEST(EnergySection, ShipsWithASourceForEach) {
  const auto table = read_energy_file(KERNBENCH_TOPOLOGIES "/energy/n7.yaml", catalog);
  EXPECT_GT(table->constants.size(), 30u);
  EXPECT_EQ(table->srams.size(), 4u);
  EXPECT_EQ(table->bounds.die_mm2, 858);
  for (const char* name :
       {"mac.f16",         "mac.f32",      "static.die",    "area.mac.f16",  "area.lane",    "area.sram_port",
        "area.crosspoint", "area.buffer",  "area.ucie_phy", "area.pcie_phy", "area.hbm_phy", "hbm.stack_gbs",
        "hbm.stack_gb",    "cost.wafer",   "cost.defects",  "cost.hbm",      "pcie",         "mac.i8",
        "math.add",        "math.simple",  "wire",          "router",        "ucie",         "hbm.access",
        "hbm.open_row",    "hbm.activate", "area.sram"})
    EXPECT_NE(table->find(name), nullptr) << name;
}

TEST(EnergySection, EveryTableThatShipsHasEveryOp) {
  int tables = 0;
  for (const auto& file : std::filesystem::directory_iterator(KERNBENCH_TOPOLOGIES "/energy")) {
    if (file.path().extension() != ".yaml") continue;
    const auto table = read_energy_file(file.path().string(), catalog);
    ++tables;
    for (const MathOp& op : math_ops()) {
      const energy::Constant* c = table->find("math." + std::string(op.name));
      ASSERT_NE(c, nullptr) << file.path() << " " << op.name;
      EXPECT_EQ(c->name, "math." + std::string(op.name));
    }
    // The rule of the tables: a multiply for each cycle.
    for (const auto& [op, cycles] : std::initializer_list<std::pair<const char*, int>>{{"exp2", 4},
                                                                                       {"log2", 4},
                                                                                       {"sin", 6},
                                                                                       {"cos", 6},
                                                                                       {"mod", 4},
                                                                                       {"randint", 20},
                                                                                       {"rand", 21},
                                                                                       {"randn", 35}})
      EXPECT_EQ(table->find(std::string("math.") + op)->value, cycles * table->find("math.mul")->value) << op;
    EXPECT_EQ(table->find("math.exp2")->value, table->find("math.exp")->value);
  }
  EXPECT_GE(tables, 5);
}

TEST(EnergySection, ShipsWithTheSameKeysForBothNodes) {
  const auto n7 = read_energy_file(KERNBENCH_TOPOLOGIES "/energy/n7.yaml", catalog);
  const auto n5 = read_energy_file(KERNBENCH_TOPOLOGIES "/energy/n5.yaml", catalog);
  for (const auto& [name, constant] : n7->constants) {
    if (name == "hbm.open_row" || name == "hbm.activate") continue;  // no published number for HBM3
    ASSERT_NE(n5->find(name), nullptr) << name;
    EXPECT_EQ(n5->find(name)->unit, constant.unit) << name;
  }
  // Values of n5 that are declared as shares of n7's are such shares.
  int shares = 0;
  for (const auto& [name, constant] : n5->constants) {
    const std::string& source = constant.source;
    const size_t times = source.find(" x ");
    if (source.rfind("n7.yaml's", 0) != 0 || times == std::string::npos) continue;
    const size_t over = source.find(" / ", times);
    const double share =
        std::stod(source.substr(times + 3)) / (over == std::string::npos ? 1 : std::stod(source.substr(over + 3)));
    const energy::Constant* whole = n7->find(name);
    ASSERT_NE(whole, nullptr) << name;
    ++shares;
    for (const auto part : {&energy::Constant::low, &energy::Constant::value, &energy::Constant::high}) {
      const double wanted = share * energy::Constant::number(whole->*part);
      EXPECT_NEAR(energy::Constant::number(constant.*part), wanted, 0.01 * wanted) << name;
    }
  }
  EXPECT_GT(shares, 30);
}

TEST(EnergySection, RefusesWrongAreasPricesAndBounds) {
  for (const auto& [energy, fault] : std::initializer_list<std::pair<const char*, const char*>>{
           {" {area: {mac: {f61: {}}}}", "t.yaml:3: energy.area.mac.f61: unknown key, did you mean"},
           {" {area: {lane: {value: 1, unit: mm2, source: s, quality: assumed, range: [1, 1]}}}",
            "t.yaml:3: energy.area.lane.unit: found 'mm2'; legal: um2\n"},
           {" {area: {pe_tmc: {value: 1}}}", "t.yaml:3: energy.area.pe_tmc: unknown key, did you mean 'pe_tcm'?"},
           {" {cost: {wafers: {value: 1}}}", "t.yaml:3: energy.cost.wafers: unknown key, did you mean 'wafer'?"},
           {" {static: {dye: {value: 1}}}", "t.yaml:3: energy.static.dye: unknown key, did you mean 'die'?"},
           {" {bounds: {tdp_w: 0}}", "t.yaml:3: energy.bounds.tdp_w: found '0'; legal: a number > 0"},
           {" {bounds: {shoreline_mm: -1}}", "t.yaml:3: energy.bounds.shoreline_mm: found '-1'; legal: a number > 0"},
           {" {bounds: {shoreline_mm: 25}}",
            "t.yaml:3: energy.bounds.shoreline_mm: expected shoreline.ucie_phy, .pcie_phy and .hbm_phy beside it"},
           {" {shoreline: {hbm: {value: 1}}}", "t.yaml:3: energy.shoreline.hbm: unknown key"},
           {" {shoreline: {ucie_phy: {value: 1, unit: mm, source: s, quality: assumed, range: [1, 1]}}}",
            "t.yaml:3: energy.shoreline.ucie_phy.unit: found 'mm'; legal: mm/(GB/s)\n"},
           {" {bounds: {tdp: 1}}", "t.yaml:3: energy.bounds.tdp: unknown key, did you mean 'tdp_w'?"}}) {
    const std::string found = faults_of(std::string(energy) + "\n");
    EXPECT_EQ(found.substr(0, std::string(fault).size()), fault) << found;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << found;
  }
}

}  // namespace
}  // namespace kernbench::topology
