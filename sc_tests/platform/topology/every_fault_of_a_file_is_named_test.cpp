// SPDX-License-Identifier: Apache-2.0
// Does a wrong file give one clear line per fault, all at once, with line and field, and never a crash or a hang?
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <random>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::every_fault_of_a_file_is_named {
namespace {

const testing::TestCatalog catalog;

std::vector<std::string> faults_of(const std::string& yaml) {
  std::vector<std::string> lines;
  try {
    compile_text(yaml, "t.yaml", catalog);
  } catch (const TopologyError& e) {
    for (const Fault& f : e.faults()) lines.push_back(f.to_string());
  }
  return lines;
}

/// A correct file of four nodes; a case replaces one piece of it by a wrong one.
const char* const kSound = R"(timing: {links: ideal}
nodes:
- {id: d, kind: pe_dma, attrs: {rd_engines: 1}}
- {id: x, kind: router, attrs: {overhead_ns: 1.0}}
- {id: m, kind: hbm_ctrl, impl: builtin.hbm_pc, attrs: {pseudo_channels: 8, interleave_bytes: 256, pc_bw_gbs: 32.0}}
- {id: s, kind: sram}
links:
- {from: d, to: x, distance_mm: 1.0, bw_gbs: 100.0}
- {from: x, to: m, distance_mm: 1.0, bw_gbs: 100.0}
- {from: x, to: s, distance_mm: 1.0, bw_gbs: 100.0}
memories:
- {node: m, space: hbm, base: 0, size: 4096}
- {node: s, space: sram, base: 4096, size: 4096}
)";

struct Wrong {
  const char* name;
  const char* piece;
  const char* instead;
  const char* fault;  ///< the expected line
};

std::string with(const Wrong& w) {
  std::string yaml = kSound;
  const size_t at = yaml.find(w.piece);
  EXPECT_NE(at, std::string::npos) << w.piece;
  return yaml.replace(at, std::string(w.piece).size(), w.instead);
}

class OneFault : public ::testing::TestWithParam<Wrong> {};

TEST_P(OneFault, is_named_with_line_field_found_and_legal) {
  EXPECT_EQ(faults_of(with(GetParam())), std::vector<std::string>{GetParam().fault});
}

const Wrong kWrong[] = {
    // Nothing else is reported of a file whose format may differ.
    {"other_version", "timing: {links: ideal}", "version: 2\nclocks: [1]", "t.yaml:1: version: found 2; legal: 1"},
    {"text_for_version", "timing: {links: ideal}", "version: '1'",
     "t.yaml:1: version: found '1'; legal: an integer from 0 to 18446744073709551615"},
    {"unknown_attribute", "overhead_ns: 1.0", "overhaed_ns: 1.0",
     "t.yaml:4: nodes[1].attrs.overhaed_ns: unknown key, did you mean 'overhead_ns'? legal: overhead_ns, "
     "store_and_forward, multicast, reduces, reduce_bw_gbs, reduce_ns"},
    {"missing_attribute", ", pc_bw_gbs: 32.0", "",
     "t.yaml:5: nodes[2].attrs.pc_bw_gbs: missing, builtin.hbm_pc has no default; legal: a number > 0 (GB/s)"},
    {"negative_rate", "pc_bw_gbs: 32.0", "pc_bw_gbs: -32.0",
     "t.yaml:5: nodes[2].attrs.pc_bw_gbs: found '-32.0'; legal: a number > 0 (GB/s)"},
    {"unknown_hash", "pc_bw_gbs: 32.0", "pc_bw_gbs: 32.0, hash: sum",
     "t.yaml:5: nodes[2].attrs.hash: found 'sum'; legal: none, xor"},
    {"burst_beside_interleave", "pc_bw_gbs: 32.0", "pc_bw_gbs: 32.0, burst_bytes: 48",
     "t.yaml:5: nodes[2].attrs.burst_bytes: does not go with interleave_bytes"},
    {"zero_bandwidth", "bw_gbs: 100.0}\nmem", "bw_gbs: 0}\nmem",
     "t.yaml:10: links[2].bw_gbs: found '0'; legal: a number >= 1e-06 and <= 1000000000 (GB/s)"},
    {"nan", "overhead_ns: 1.0", "overhead_ns: .nan",
     "t.yaml:4: nodes[1].attrs.overhead_ns: found '.nan'; legal: a number >= 0"},
    {"infinity", "overhead_ns: 1.0", "overhead_ns: .inf",
     "t.yaml:4: nodes[1].attrs.overhead_ns: found '.inf'; legal: a number >= 0"},
    {"absurd_number", "overhead_ns: 1.0", "overhead_ns: 1e300",
     "t.yaml:4: nodes[1].attrs.overhead_ns: found '1e300'; legal: a number >= 0"},
    {"beyond_double", "overhead_ns: 1.0", "overhead_ns: 1e999",
     "t.yaml:4: nodes[1].attrs.overhead_ns: found '1e999'; legal: a number >= 0"},
    {"text_for_number", "overhead_ns: 1.0", "overhead_ns: fast",
     "t.yaml:4: nodes[1].attrs.overhead_ns: found 'fast'; legal: a number >= 0"},
    {"quoted_number", "overhead_ns: 1.0", "overhead_ns: '1.0'",
     "t.yaml:4: nodes[1].attrs.overhead_ns: found '1.0'; legal: a number >= 0"},
    {"list_for_number", "overhead_ns: 1.0", "overhead_ns: [1]",
     "t.yaml:4: nodes[1].attrs.overhead_ns: found a list; legal: a number >= 0"},
    {"nothing_for_number", "overhead_ns: 1.0",
     "overhead_ns: ", "t.yaml:4: nodes[1].attrs.overhead_ns: found nothing; legal: a number >= 0"},
    {"count_beyond_32_bits", "rd_engines: 1", "rd_engines: 4294967297",
     "t.yaml:3: nodes[0].attrs.rd_engines: found '4294967297'; legal: an integer from 1 to 2147483647"},
    {"fractional_count", "rd_engines: 1", "rd_engines: 1.5",
     "t.yaml:3: nodes[0].attrs.rd_engines: found '1.5'; legal: an integer from 1 to 2147483647"},
    {"size_1e300", "base: 0, size: 4096", "base: 0, size: 1e300",
     "t.yaml:12: memories[0].size: found '1e300'; legal: an integer from 1 to 18446744073709551615"},
    {"size_zero", "base: 0, size: 4096", "base: 0, size: 0",
     "t.yaml:12: memories[0].size: found '0'; legal: an integer from 1 to 18446744073709551615"},
    {"negative_base", "base: 0,", "base: -256,",
     "t.yaml:12: memories[0].base: found '-256'; legal: an integer from 0 to 18446744073709551615"},
    {"beyond_64_bits", "base: 4096, size: 4096", "base: 18446744073709551615, size: 2",
     "t.yaml:13: memories.base: found base 18446744073709551615 + size 2; legal: a window that ends at 2^64 or before"},
    {"overlap", "base: 4096", "base: 4095",
     "t.yaml:13: memories.base: found [4095, 8190] of 's', which overlaps [0, 4095] of 'm' on line 12; legal: ranges "
     "apart"},
    {"memory_on_a_router", "{node: s, space: sram", "{node: x, space: sram",
     "t.yaml:13: memories.node: found 'x' of kind router; legal: a node of kind hbm_ctrl or sram"},
    {"wrong_space", "space: sram", "space: hbm",
     "t.yaml:13: memories.space: found 'hbm' on 's' of kind sram; legal: sram, or a name of your own"},
    {"unknown_space", "space: sram", "space: tcm",
     "t.yaml:13: memories[1].space: found 'tcm'; legal: hbm, sram, or a name of at most 31 small letters, digits and "
     "'_' "
     "that begins with a letter"},
    {"misaligned_hbm_pc", "{node: m, space: hbm, base: 0, size: 4096}", "{node: m, space: hbm, base: 128, size: 3968}",
     "t.yaml:12: memories.base: found 128 on 'm'; legal: a multiple of its interleave_bytes 256"},
    {"unreachable", "- {from: x, to: s, distance_mm: 1.0, bw_gbs: 100.0}\n", "",
     "t.yaml:12: memories.node: found 's', which no initiator reaches; legal: a memory with a path from a pe_dma, "
     "m_cpu, pcie_ep or port"},
    {"unknown_impl", "impl: builtin.hbm_pc", "impl: builtin.hbm_cp",
     "t.yaml:5: nodes[2].impl: unknown impl 'builtin.hbm_cp', did you mean 'builtin.hbm_pc'? legal: builtin.hbm_ctrl, "
     "builtin.hbm_pc"},
    {"impl_of_another_kind", "kind: router,", "kind: router, impl: builtin.sram,",
     "t.yaml:4: nodes[1].impl: found 'builtin.sram', which is of kind sram, on a node of kind router; legal: "
     "builtin.router"},
    {"transit_end", "{id: d, kind: pe_dma,", "{id: d, kind: pe_dma, transit: true,",
     "t.yaml:3: nodes[0].transit: found 'true'; legal: false, as a node of kind pe_dma can only be an end of a path"},
    {"flit_and_ideal", "{links: ideal}", "{links: flit, response: ideal}",
     "t.yaml:1: timing.response: found 'ideal' beside links: flit; legal: routed"},
    {"flit_and_interleave", "{links: ideal}", "{links: flit, flit_bytes: 512}",
     "t.yaml:5: interleave_bytes: found 256 on 'm' with links: flit; legal: a multiple of timing.flit_bytes 512"},
    {"unknown_mode", "{links: ideal}", "{links: wormhole}",
     "t.yaml:1: timing.links: found 'wormhole'; legal: ideal, cut_through, flit"},
    {"key_twice", "distance_mm: 1.0, bw_gbs: 100.0}\nmem", "distance_mm: 1.0, distance_mm: 2.0}\nmem",
     "t.yaml:10: links[2].distance_mm: found twice, first on line 10; legal: once"},
    {"second_edge", "{from: x, to: s, distance_mm: 1.0, bw_gbs: 100.0}",
     "{from: x, to: s, distance_mm: 1.0}\n- {from: s, to: x, distance_mm: 2.0, bidirectional: false}",
     "t.yaml:11: links[3]: found a second edge from 's' to 'x', first on line 10; legal: one"},
    {"boolean_word", "bw_gbs: 100.0}\nmem", "bw_gbs: 100.0, bidirectional: yes}\nmem",
     "t.yaml:10: links[2].bidirectional: found 'yes'; legal: true or false"},
};

INSTANTIATE_TEST_SUITE_P(Flat, OneFault, ::testing::ValuesIn(kWrong), [](const auto& p) { return p.param.name; });

bool any_has(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& l) { return l.find(text) != l.npos; });
}

TEST(faults, a_sound_file_has_none) {
  EXPECT_EQ(faults_of(kSound), std::vector<std::string>{});
  EXPECT_EQ(faults_of(std::string("version: 1\n") + kSound), std::vector<std::string>{});
}

TEST(faults, of_one_slip_with_consequences_are_named_with_them) {
  const auto faults_with = [&](const char* piece, const char* instead) {
    return faults_of(with({"", piece, instead, nullptr}));
  };
  auto f = faults_with("distance_mm: 1.0", "distance_mn: 1.0");
  EXPECT_TRUE(any_has(f, "t.yaml:8: links[0].distance_mn: unknown key, did you mean 'distance_mm'?"));
  EXPECT_TRUE(any_has(f, "t.yaml:8: links[0].distance_mm: missing; legal: a number >= 0"));
  f = faults_with("id: s,", "id: x,");
  EXPECT_TRUE(any_has(f, "t.yaml:6: nodes[3].id: found 'x' a second time, first on line 4; legal: an id of its own"));
  f = faults_with("from: x, to: s", "from: s, to: s");
  EXPECT_TRUE(any_has(f, "t.yaml:10: links[2]: found a link from 's' to itself; legal: two nodes"));
  f = faults_with("from: d, to: x", "from: d, to: y");
  EXPECT_TRUE(any_has(f, "t.yaml:8: links[0].to: found 'y', which is no node"));
  f = faults_with("kind: router", "kind: roter");
  EXPECT_TRUE(any_has(f, "t.yaml:4: nodes[1].kind: unknown kind 'roter', did you mean 'router'?"));
  f = faults_with("memories:", "memorys:");
  EXPECT_TRUE(any_has(f, "memorys: unknown key, did you mean 'memories'?"));
  f = faults_with("{from: d, to: x, distance_mm: 1.0", "{from: x, to: d, bidirectional: false, distance_mm: 1.0");
  EXPECT_EQ(f.size(), 2u);  // both memories are unreachable
}

TEST(faults, of_a_file_all_come_at_once_in_the_order_of_its_lines) {
  std::string yaml = kSound;
  for (const auto& [piece, instead] : {std::pair<const char*, const char*>{"rd_engines: 1", "rd_engines: 0"},
                                       {"overhead_ns: 1.0", "overhead_ns: -1"},
                                       {"pseudo_channels: 8", "pseudo_channels: eight"},
                                       {"size: 4096}\n- {node: s", "sise: 4096}\n- {node: s"}})
    yaml.replace(yaml.find(piece), std::string(piece).size(), instead);
  const auto f = faults_of(yaml);
  ASSERT_EQ(f.size(), 5u);
  EXPECT_EQ(f[0].substr(0, 9), "t.yaml:3:");
  EXPECT_EQ(f[1].substr(0, 9), "t.yaml:4:");
  EXPECT_EQ(f[2].substr(0, 9), "t.yaml:5:");
  EXPECT_EQ(f[3].substr(0, 10), "t.yaml:12:");  // sise unknown, size missing
  EXPECT_EQ(f[4].substr(0, 10), "t.yaml:12:");
}

TEST(faults, of_files_that_are_no_topology_are_one_clear_line) {
  for (const char* text :
       {"", "\n", "# only a comment\n", "---\n", "hello\n", "- a\n- b\n", "a: [1, 2\n", "a: 1\n---\nb: 2\n", "\t- x\n",
        "a: *nobody\n", "\x01\x02", "\xff\xfe", "nodes: [\"\\u12\"]\n"}) {
    const auto f = faults_of(text);
    ASSERT_EQ(f.size(), 1u) << "'" << text << "' gave " << (f.empty() ? "nothing" : f[1]);
    EXPECT_EQ(f[0].find('\n'), std::string::npos) << f[0];
  }
}

TEST(faults, of_stray_text_behind_the_topology_are_not_dropped_in_silence) {
  const std::string sound = "nodes: [{id: d, kind: pe_dma}]\n";
  EXPECT_EQ(faults_of(sound), std::vector<std::string>{});
  EXPECT_EQ(faults_of("---\n" + sound + "# the end\n...\n"), std::vector<std::string>{});
  for (const std::string& text :
       {", " + sound, sound + ",\n", sound + "]\nlinks: []\n", sound + "}\n", "]" + sound, sound + "---\nlinks: []\n"})
    EXPECT_EQ(faults_of(text).size(), 1u) << text;
}

TEST(faults, of_missing_files_and_folders_are_one_clear_line) {
  for (const char* path : {"no/such/file.yaml", KERNBENCH_TOPOLOGIES}) {
    try {
      compile_file(path, catalog);
      FAIL();
    } catch (const TopologyError& e) {
      ASSERT_EQ(e.faults().size(), 1u);
      EXPECT_NE(e.faults()[0].to_string().find(path), std::string::npos);
    }
  }
}

double seconds_to_refuse(const std::string& text, size_t& faults) {
  const auto start = std::chrono::steady_clock::now();
  faults = faults_of(text).size();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(faults, of_ten_megabytes_of_garbage_come_fast) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  std::string binary(10'000'000, '\0');
  for (char& c : binary) c = static_cast<char>(random());
  std::string letters(10'000'000, '\0');
  for (char& c : letters) c = "abcdefgh \n"[random() % 10];
  for (const std::string& text : {binary, letters, std::string(10'000'000, '\0'), std::string(10'000'000, '7')}) {
    size_t faults = 0;
    EXPECT_LT(seconds_to_refuse(text, faults), 20.0);
    EXPECT_EQ(faults, 1u);
  }
}

TEST(faults, of_deep_nesting_and_alias_bombs_come_without_a_crash) {
  std::string deep, bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n", keys;
  for (int i = 0; i < 100'000; ++i) deep += i % 2 ? '[' : '{';
  for (int i = 1; i < 40; ++i) {
    const std::string p = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + p;
    for (int k = 0; k < 8; ++k) bomb += ", " + p;
    bomb += "]\n";
  }
  bomb += "nodes: *a39\n";
  for (int i = 0; i < 100'000; ++i) keys += "key" + std::to_string(i) + ": 1\n";
  for (const std::string& text : {deep, bomb, keys, std::string("nodes: &a [*a, {id: &b {x: *b}}]\n")}) {
    size_t faults = 0;
    EXPECT_LT(seconds_to_refuse(text, faults), 20.0);
    EXPECT_GE(faults, 1u);
  }
}

TEST(faults, without_number_are_cut_short_and_counted) {
  std::string yaml = "nodes:\n";
  for (int i = 0; i < 5000; ++i) yaml += "- {id: n" + std::to_string(i) + ", kind: nonsense}\n";
  const auto f = faults_of(yaml);
  EXPECT_EQ(f.size(), 501u);
  EXPECT_EQ(f.back(), "t.yaml: and 4500 more faults, not listed");
}

}  // namespace
}  // namespace kernbench::topology::every_fault_of_a_file_is_named
