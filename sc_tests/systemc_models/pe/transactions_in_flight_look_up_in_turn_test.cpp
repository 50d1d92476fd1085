// SPDX-License-Identifier: Apache-2.0
// Transactions in flight of one item, through virtual addresses. Look-ups are sequential, each from the start of its
// transaction, and the transactions after them overlap. Pieces of one memory are joined (access rules §15).
#include <gtest/gtest.h>

#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/work/command_driver.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

constexpr uint64_t kPage = 512, kMemory = 1 << 20;

/// pe_dma (1 ns) - router (5) - three memories (10 each), 64 GB/s, wires of 1 ns; 20 ns per miss.
std::string three_memories(const std::string& dma_attributes) {
  std::string text = R"(
ns_per_mm: 1.0
timing: {links: ideal, response: ideal}
nodes:
  - {id: r, kind: router, attrs: {overhead_ns: 5}}
  - {id: pe0.pe_cpu, kind: pe_cpu}
  - {id: pe0.pe_scheduler, kind: pe_scheduler}
  - {id: pe0.pe_mmu, kind: pe_mmu, attrs: {page_bytes: 512, tlb_miss_ns: 20}}
  - {id: pe0.pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0.5, read_bw_gbs: 64, write_bw_gbs: 64}}
  - {id: pe0.pe_dma, kind: pe_dma, attrs: {overhead_ns: 1)" +
                     dma_attributes + R"(}}
  - {id: m0, kind: hbm_ctrl, attrs: {overhead_ns: 10}}
  - {id: m1, kind: hbm_ctrl, attrs: {overhead_ns: 10}}
  - {id: m2, kind: hbm_ctrl, attrs: {overhead_ns: 10}}
links:
  - {from: pe0.pe_dma, to: r, distance_mm: 1, bw_gbs: 64}
)";
  for (const char* m : {"m0", "m1", "m2"})
    text += std::string("  - {from: r, to: ") + m + ", distance_mm: 1, bw_gbs: 64}\n";
  text += "memories:\n";
  for (int m = 0; m < 3; ++m)
    text += "  - {node: m" + std::to_string(m) + ", space: hbm, base: " + std::to_string(m * kMemory) +
            ", size: " + std::to_string(kMemory) + "}\n";
  return text;
}

/// End of a load of pages in these memories, ns.
std::string done_ns(const std::string& dma_attributes, const std::vector<uint64_t>& memories) {
  return in_child([&] {
    const auto platform = platform_from_text(three_memories(dma_attributes));
    Translation t;
    t.virtual_addr = kVirtualBase;
    for (size_t i = 0; i < memories.size(); ++i)
      t.pieces.push_back({i * kPage, memories[i] * kMemory + 2 * i * kPage, kPage});
    PeCommand load;
    load.type = CommandType::load;
    load.dma = {t.virtual_addr, memories.size() * kPage, {1, memories.size() * kPage, 0}, &t};
    CommandDriver driver("driver", *platform);
    driver.submit(0, load, 0);
    simulate();
    return std::to_string(load.done_ns);
  });
}

TEST(transactions_in_flight, look_up_one_after_the_other) {
  EXPECT_EQ(done_ns(", outstanding: 1", {0, 1, 2}), "138.000000");
  EXPECT_EQ(done_ns(", outstanding: 2", {0, 1, 2}), "92.000000");
  EXPECT_EQ(done_ns(", outstanding: 3", {0, 1, 2}), "86.000000");
  EXPECT_EQ(done_ns(", outstanding: 65535", {0, 1, 2}), "86.000000");
}

TEST(transactions_in_flight, are_one_for_all_pieces_of_a_memory) {
  EXPECT_EQ(done_ns(", outstanding: 1", {0, 1, 0}), "138.000000");
  EXPECT_EQ(done_ns(", join_pieces: true", {0, 1, 0}), "120.000000");
  EXPECT_EQ(done_ns(", join_pieces: true, outstanding: 2", {0, 1, 0}), "86.000000");
  EXPECT_EQ(done_ns(", join_pieces: true", {0}), "46.000000");
}

}  // namespace
}  // namespace kernbench::testing
