// SPDX-License-Identifier: Apache-2.0
// Loads and stores: strides, masks, and the messages of refusals.
#include <gtest/gtest.h>

#include <functional>

#include "tl_fixture.h"

namespace kernbench::testing {
namespace {

class MemoryTest : public TlTest {};

TEST_F(MemoryTest, pointers_count_elements) {
  const tl::Ptr p(Space::hbm, 1000, DType::f16);
  EXPECT_EQ((p + 3).addr, 1006u);
  EXPECT_EQ((p - 3).addr, 994u);
  tl::Ptr q = p;
  q += 10;
  q -= 1;
  EXPECT_EQ(q.addr, 1018u);
  EXPECT_EQ((p.cast(DType::f32) + 1).addr, 1004u);
  EXPECT_EQ(p.to_string(), "hbm 0x3e8 f16");
}

TEST_F(MemoryTest, a_strided_block_is_one_command) {
  const auto p = place(DType::f32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const tl::Block whole = p.block({3, 4});
  const auto x = tl.load(whole.tile(1, 1, 2, 2));
  EXPECT_EQ(backend.commands.size(), 1u);
  EXPECT_EQ(last().operands[0].ref.strides, (Dims{4, 1}));
  EXPECT_TRUE(last().output.contiguous());
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{5, 6, 9, 10}));
  tl.store(whole.tile(0, 0, 2, 2), x);
  EXPECT_EQ(last().name, "dma_write");
  EXPECT_EQ(tl.load(p, {12}).to_vector<int>(), (std::vector<int>{5, 6, 2, 3, 9, 10, 6, 7, 8, 9, 10, 11}));
}

TEST_F(MemoryTest, tiles_must_lie_inside_their_block) {
  const tl::Block b = tl::Ptr(Space::hbm, 0, DType::f32).block({4, 4});
  EXPECT_THROW((void)b.tile(3, 0, 2, 1), KernelFault);
  EXPECT_THROW((void)b.tile(0, -1, 1, 1), KernelFault);
  EXPECT_THROW((void)b.tile(0, 0, 0, 1), KernelFault);
  EXPECT_THROW((void)b.slice(0, 1), KernelFault);
  EXPECT_THROW((void)tl::Ptr(Space::hbm, 0, DType::f32).block({4, 4}, 3), KernelFault);
  EXPECT_THROW((void)tl::Ptr(Space::hbm, 0, DType::f32).block({0}), KernelFault);
}

TEST_F(MemoryTest, a_transposed_view_is_stored_as_it_looks) {
  const auto x = loaded({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto p = fresh(DType::f32, 6);
  tl.store(p, x.transpose());
  EXPECT_EQ(tl.load(p, {6}).to_vector<int>(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
}

TEST_F(MemoryTest, a_store_of_real_data_carries_its_bytes_and_one_of_pending_data_does_not) {
  const auto x = loaded({2}, {1, 2});
  tl.store(fresh(DType::f32, 2), x);
  ASSERT_NE(last().data, nullptr);
  EXPECT_EQ(last().data->size(), 8u);
  EXPECT_EQ(last().handle_id, x.id());
  tl.store(fresh(DType::f32, 2), x + x);
  EXPECT_EQ(last().data, nullptr);
}

TEST_F(MemoryTest, same_address_in_another_type_is_reinterpreted) {
  const auto p = place(DType::f32, {1.0f});
  EXPECT_EQ(tl.load(p.cast(DType::i32), {1}).item<int>(), 0x3f800000);
}

TEST_F(MemoryTest, a_misaligned_access_says_space_address_size_and_owner) {
  const tl::Ptr p(Space::hbm, 4098, DType::f32);
  for (const auto& f : {std::function<void()>([&] { (void)tl.load(p, {4}); }),
                        std::function<void()>([&] { tl.store(p, tl.zeros({4}, DType::f32)); })}) {
    const std::string m = fault_of(f);
    for (const char* part : {"memory_test.cpp:", "hbm 0x1002", "16 bytes", "hbm0", "misaligned", "sip0.cube0.pe0"}) {
      EXPECT_NE(m.find(part), std::string::npos) << part << " in: " << m;
    }
  }
}

TEST_F(MemoryTest, an_access_out_of_range_is_a_fault_before_anything_is_submitted) {
  const tl::Ptr p(Space::hbm, SequentialSystem::kSliceBytes - 8, DType::f32);
  EXPECT_NE(fault_of([&] { (void)tl.load(p, {3}); }).find("is in no memory"), std::string::npos);
  place(DType::f32, {1, 2});
  EXPECT_NE(fault_of([&] { (void)tl.load(p, {3}); }).find("; nearest written range: [0x1000, 0x1008)"),
            std::string::npos);
  EXPECT_NE(fault_of([&] { (void)tl.load(p.block({2, 1}, 2)); }), "") << "the span counts, not the bytes";
  EXPECT_NE(fault_of([&] { (void)tl.load(tl::Ptr(Space::sram, 0, DType::f32), {1}); }), "");
  EXPECT_NE(fault_of([&] { (void)tl.load(tl::Ptr(Space::tcm, 0, DType::f32), {1}); }), "");
  EXPECT_TRUE(backend.commands.empty());
  EXPECT_EQ(backend.tcm().used_bytes(), 0u);
}

TEST_F(MemoryTest, a_load_of_memory_never_written_is_a_fault_when_it_arrives) {
  const auto p = place(DType::f32, {1, 2, 3});
  const std::string m = fault_of([&] { (void)tl.load(p.block({2, 2}, 2)); });
  for (const char* part : {"memory_test.cpp:", "[2, 2] f32 (16 bytes) at hbm 0x1000", "never written", "0x100c",
                           "of hbm0", "nearest written range"}) {
    EXPECT_NE(m.find(part), std::string::npos) << part << " in: " << m;
  }
  const auto x = tl.load_async(p, {4});
  EXPECT_THROW(tl.wait(x), KernelFault);
}

TEST_F(MemoryTest, a_load_that_nobody_waits_for_is_checked_at_the_end) {
  const auto p = fresh(DType::f32, 4);
  {
    const auto x = tl.load_async(p, {4});
    EXPECT_THROW(tl.finish(), KernelFault);
  }
  tl::Context other(backend);
  { const auto x = other.load_async(p, {4}); }
  EXPECT_THROW(other.finish(), KernelFault);
}

TEST_F(MemoryTest, a_store_before_arrival_makes_a_load_legal) {
  const auto p = fresh(DType::f32, 2);
  const auto x = tl.load_async(p, {2});
  tl.store_async(p, loaded({2}, {7, 8}));
  EXPECT_EQ(x(1), 8) << "a load samples memory at its completion";
}

TEST_F(MemoryTest, stores_need_equal_shapes_and_types) {
  const auto x = loaded({2, 2}, Floats(4, 0));
  EXPECT_NE(fault_of([&] { tl.store(fresh(DType::f32, 4).block({4}), x); }).find("shapes differ"), std::string::npos);
  const std::string m = fault_of([&] { tl.store(fresh(DType::f16, 4), x); });
  EXPECT_NE(m.find("(shape [2, 2] f32) to [2, 2] f16"), std::string::npos) << m;
}

TEST_F(MemoryTest, a_masked_load_reads_only_what_the_mask_lets_through) {
  const auto p = place(DType::f32, {1, 2, 3});  // the fourth element was never written
  const auto mask = loaded({4}, {1, 0, 1, 0}, DType::u8);
  const auto x = tl.load(p.block({4}), mask, -5);
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, -5, 3, -5}));
  EXPECT_EQ(values(x), (Floats{1, -5, 3, -5}));
  const auto all = loaded({4}, {1, 1, 1, 1}, DType::u8);
  EXPECT_NE(fault_of([&] { (void)tl.load(p.block({4}), all); }).find("never written"), std::string::npos);
  EXPECT_THROW((void)tl.load(p.block({3}), mask), KernelFault);
}

TEST_F(MemoryTest, a_computed_mask_makes_the_load_pending_and_phase_2_applies_it) {
  const auto p = place(DType::f32, {1, 2, 3, 4});
  const auto x = tl.load(p.block({4}), tl.arange(0, 4) < 3, 9);
  EXPECT_THROW(x(0), KernelFault);
  EXPECT_EQ(values(x), (Floats{1, 2, 3, 9}));
}

TEST_F(MemoryTest, a_masked_store_leaves_the_rest_as_it_was) {
  const auto p = place(DType::f32, {1, 2, 3, 4});
  tl.store(p.block({4}), loaded({4}, {10, 20, 30, 40}), loaded({4}, {0, 1, 0, 1}, DType::i8));
  EXPECT_EQ(tl.load(p, {4}).to_vector<int>(), (std::vector<int>{1, 20, 3, 40}));
  tl.store(p.block({4}), tl.full({4}, 7, DType::f32), tl.arange(0, 4) >= 3);
  EXPECT_EQ(memory_after(p, {4}), (Floats{1, 20, 3, 7}));
}

}  // namespace
}  // namespace kernbench::testing
