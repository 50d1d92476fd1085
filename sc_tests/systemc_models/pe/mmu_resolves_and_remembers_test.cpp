// SPDX-License-Identifier: Apache-2.0
// Does an MMU resolve every byte to its place, for any sharing of pages, and is its TLB really LRU?
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernbench/systemc_models/pe/mapping_table.h"
#include "kernbench/systemc_models/pe/pe_command.h"
#include "kernbench/systemc_models/pe/tlb.h"

namespace kernbench::testing::mmu_resolves_and_remembers {
namespace {

constexpr uint64_t kBase = kVirtualBase;

/// Pieces of these sizes, the i-th at physical (i + 1) << 32.
std::shared_ptr<VirtualMapping> mapping(const std::string& tensor, uint64_t addr, const std::vector<uint64_t>& sizes) {
  auto m = std::make_shared<VirtualMapping>();
  m->tensor = tensor;
  m->range.virtual_addr = addr;
  for (uint64_t size : sizes) {
    m->range.pieces.push_back({m->nbytes, (m->range.pieces.size() + 1) << 32, size});
    m->nbytes += size;
  }
  return m;
}

std::string fault_of(const MappingTable& table, uint64_t addr, uint64_t nbytes) {
  Space space;
  try {
    table.translate(addr, nbytes, &space);
  } catch (const TranslationFault& e) {
    return e.what();
  }
  return "";
}

TEST(MappingTable, resolves_every_byte_of_shards_smaller_than_a_page) {
  MappingTable table;
  ASSERT_EQ(table.map(mapping("x", kBase, {128, 128, 64})), nullptr);
  ASSERT_EQ(table.map(mapping("y", kBase + 512, {128})), nullptr) << "in the same page";
  Space space = Space::sram;
  for (uint64_t at = 0; at < 320; ++at) {
    const auto t = table.translate(kBase + at, 1, &space);
    ASSERT_EQ(t->pieces.size(), 1u);
    const uint64_t shard = at / 128;
    EXPECT_EQ(t->pieces[0].addr, ((shard + 1) << 32) + at - 128 * shard) << at;
  }
  EXPECT_EQ(space, Space::hbm);
  EXPECT_EQ(table.translate(kBase + 512 + 5, 1, &space)->pieces[0].addr, (uint64_t{1} << 32) + 5);
}

TEST(MappingTable, splits_an_access_at_the_shards_ends) {
  MappingTable table;
  table.map(mapping("x", kBase, {128, 128, 64}));
  Space space;
  const auto t = table.translate(kBase + 100, 200, &space);
  ASSERT_EQ(t->pieces.size(), 3u);
  const std::vector<std::array<uint64_t, 3>> expected = {
      {0, (uint64_t{1} << 32) + 100, 28}, {28, uint64_t{2} << 32, 128}, {156, uint64_t{3} << 32, 44}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(t->pieces[i].offset, expected[i][0]);
    EXPECT_EQ(t->pieces[i].addr, expected[i][1]);
    EXPECT_EQ(t->pieces[i].nbytes, expected[i][2]);
  }
}

TEST(MappingTable, names_the_nearest_mapping_in_a_fault) {
  MappingTable table;
  EXPECT_EQ(fault_of(table, kBase, 4), "virtual address 0x10000000000000, 4 bytes: not mapped; nothing is mapped");
  table.map(mapping("x", kBase + 0x1000, {0x100}));
  table.map(mapping("y", kBase + 0x2000, {0x100}));
  EXPECT_EQ(fault_of(table, kBase + 0x1200, 4),
            "virtual address 0x10000000001200, 4 bytes: not mapped; nearest mapping: x [0x10000000001000, "
            "0x10000000001100)");
  EXPECT_NE(fault_of(table, kBase + 0x1f00, 4).find("nearest mapping: y ["), std::string::npos);
  EXPECT_NE(fault_of(table, kBase, 4).find("nearest mapping: x ["), std::string::npos);
  EXPECT_EQ(fault_of(table, kBase + 0x10f0, 17),
            "virtual address 0x100000000010f0, 17 bytes: runs over the end of the mapping of x [0x10000000001000, "
            "0x10000000001100), the next one is y [0x10000000002000, 0x10000000002100)");
  EXPECT_EQ(fault_of(table, kBase + 0x10f0, 16), "");
}

TEST(MappingTable, refuses_what_overlaps_and_forgets_only_what_is_there) {
  MappingTable table;
  table.map(mapping("x", kBase + 100, {100}));
  for (const auto& [addr, size] : std::vector<std::pair<uint64_t, uint64_t>>{{0, 101}, {199, 1}, {120, 10}, {0, 500}}) {
    const VirtualMapping* other = table.map(mapping("y", kBase + addr, {size}));
    ASSERT_NE(other, nullptr) << addr;
    EXPECT_EQ(other->tensor, "x");
  }
  EXPECT_EQ(table.map(mapping("before", kBase, {100})), nullptr);
  EXPECT_EQ(table.map(mapping("behind", kBase + 200, {1})), nullptr);
  EXPECT_FALSE(table.unmap(kBase + 100, 99));
  EXPECT_FALSE(table.unmap(kBase + 101, 99));
  EXPECT_TRUE(table.unmap(kBase + 100, 100));
  EXPECT_FALSE(table.unmap(kBase + 100, 100));
  EXPECT_NE(fault_of(table, kBase + 150, 1), "");
  EXPECT_EQ(fault_of(table, kBase + 50, 1), "");
}

TEST(Tlb, replaces_the_least_recently_used) {
  Tlb tlb(2);
  EXPECT_FALSE(tlb.look_up(1));
  EXPECT_FALSE(tlb.look_up(2));
  EXPECT_TRUE(tlb.look_up(1));
  EXPECT_FALSE(tlb.look_up(3)) << "in place of 2";
  EXPECT_TRUE(tlb.look_up(1));
  EXPECT_FALSE(tlb.look_up(2)) << "in place of 3";
  tlb.drop(1, 1);
  EXPECT_EQ(tlb.size(), 1u);
  EXPECT_FALSE(tlb.look_up(1));
  EXPECT_TRUE(tlb.look_up(2));
}

TEST(Tlb, agrees_with_a_list_that_is_searched) {
  std::mt19937 random(7);
  for (size_t entries : {1, 3, 8}) {
    Tlb tlb(entries);
    std::vector<uint64_t> pages;  // most recently used last
    for (int i = 0; i < 2000; ++i) {
      const uint64_t page = random() % 12;
      const auto it = std::find(pages.begin(), pages.end(), page);
      const bool there = it != pages.end();
      if (there) pages.erase(it);
      pages.push_back(page);
      if (pages.size() > entries) pages.erase(pages.begin());
      ASSERT_EQ(tlb.look_up(page), there) << entries << " entries, step " << i;
    }
  }
}

/// A strided part over small pieces: its transactions must cover its bytes in order, and none crosses the end of a
/// piece.
TEST(TransactionsOfAPart, are_its_bytes_in_order_and_each_inside_one_piece) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    Translation t;
    t.virtual_addr = kBase;
    uint64_t span = 0;
    while (span < 400) {
      const uint64_t n = 1 + random() % 97;
      t.pieces.push_back({span, (t.pieces.size() + 1) << 32, n});
      span += n;
    }
    TilePart part;
    part.translation = &t;
    part.addr = kBase + random() % 50;
    part.rows.count = 1 + random() % 6;
    part.rows.bytes = 1 + random() % 40;
    part.rows.stride = part.rows.bytes + random() % 18;
    part.nbytes = part.rows.count * part.rows.bytes;
    std::vector<uint64_t> expected, found;
    for (uint64_t r = 0; r < part.rows.count; ++r) {
      for (uint64_t b = 0; b < part.rows.bytes; ++b)
        expected.push_back(t.physical(part.addr - kBase + r * part.rows.stride + b));
    }
    for (uint64_t done = 0; done < part.nbytes;) {
      const PieceTransaction x = transaction_at(part, done);
      const uint64_t piece = x.physical.addr >> 32;
      EXPECT_EQ(t.physical(x.virtual_addr - kBase), x.physical.addr);
      for (uint64_t r = 0; r < x.physical.rows.count; ++r) {
        for (uint64_t b = 0; b < x.physical.rows.bytes; ++b) {
          found.push_back(x.physical.addr + r * x.physical.rows.stride + b);
          ASSERT_LT(found.back() - (piece << 32), t.pieces[piece - 1].nbytes) << "over the end of its piece";
        }
      }
      ASSERT_EQ(x.physical.nbytes, x.physical.rows.count * x.physical.rows.bytes);
      done += x.physical.nbytes;
    }
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace kernbench::testing::mmu_resolves_and_remembers
