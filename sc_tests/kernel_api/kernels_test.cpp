// SPDX-License-Identifier: Apache-2.0
// The supplied kernels match their references, for every type, odd shapes and idle PEs.
#include <gtest/gtest.h>

#include "kernel_harness.h"

namespace kernbench::testing {
namespace {

RunOptions on(uint32_t pes, uint64_t seed = 1) {
  RunOptions o;
  o.pes = pes;
  o.seed = seed;
  return o;
}

TEST(VectorAdd, adds_every_element_type_over_several_blocks) {
  for (const char* t : {"f32", "f16", "bf16", "i8", "i16", "i32", "u8"}) {
    expect_verified("vector_add", {{"n", "40001"}, {"dtype", t}}, on(2));
  }
}

TEST(VectorAdd, leaves_pes_idle_where_there_are_fewer_elements_than_pes) {
  for (const char* n : {"1", "3", "7", "8", "9"}) expect_verified("vector_add", {{"n", n}}, on(8));
}

TEST(Gemm, agrees_with_the_reference_for_every_type_and_an_odd_shape) {
  for (const char* kernel : {"gemm", "gemm_dot"}) {
    for (const char* t : {"f32", "f16", "bf16", "i8"}) {
      expect_verified(kernel, {{"m", "100"}, {"n", "75"}, {"k", "33"}, {"dtype", t}}, on(4));
      expect_verified(kernel, {{"m", "67"}, {"n", "130"}, {"k", "200"}, {"dtype", t}}, on(3, 9));
    }
  }
}

TEST(Gemm, takes_single_rows_columns_and_depths_and_tiles_larger_than_the_shape) {
  for (const char* kernel : {"gemm", "gemm_dot"}) {
    expect_verified(kernel, {{"m", "1"}, {"n", "1"}, {"k", "1"}}, on(8));
    expect_verified(kernel, {{"m", "5"}, {"n", "1"}, {"k", "70"}}, on(8));
    expect_verified(kernel, {{"m", "9"}, {"n", "6"}, {"k", "1"}}, on(2));
    expect_verified(kernel,
                    {{"m", "20"}, {"n", "30"}, {"k", "40"}, {"tile_m", "1000"}, {"tile_n", "1000"}, {"tile_k", "1000"}},
                    on(2));
    expect_verified(kernel, {{"m", "20"}, {"n", "30"}, {"k", "40"}, {"tile_m", "3"}, {"tile_n", "7"}, {"tile_k", "11"}},
                    on(3));
  }
}

TEST(Gemm, is_one_composite_a_pe) {
  const KernelRun run = run_kernel("gemm", {{"m", "6"}, {"n", "8"}, {"k", "8"}}, on(8));
  for (size_t p = 0; p < run.commands.size(); ++p) {
    ASSERT_EQ(run.commands[p].size(), p < 6 ? 1u : 0u);
    if (p < 6) {
      EXPECT_EQ(run.commands[p][0]->name, "composite_gemm");
    }
  }
}

TEST(Gather, takes_rows_by_index_and_zeros_for_minus_one) {
  for (const char* t : {"f32", "f16", "bf16", "i8", "i16", "i32", "u8"}) {
    expect_verified("gather", {{"n", "37"}, {"rows", "5"}, {"cols", "19"}, {"dtype", t}}, on(4));
  }
  expect_verified("gather", {{"n", "3"}, {"rows", "2"}, {"cols", "9000"}}, on(4));
  expect_verified("gather", {{"n", "2100"}, {"rows", "2"}, {"cols", "3"}}, on(1));
}

TEST(Gather, moves_no_data_for_an_index_of_minus_one) {
  RunOptions o = on(1);
  o.inputs["idx"] = HostTensor::from(DType::i32, {3}, std::vector<int32_t>{1, -1, 0});
  const KernelRun run = run_kernel("gather", {{"n", "3"}, {"rows", "2"}, {"cols", "4"}}, o);
  std::vector<std::string> names;
  for (const auto& c : run.commands[0]) names.push_back(c->name);
  EXPECT_EQ(names, (std::vector<std::string>{"dma_read", "dma_read", "dma_write", "full", "dma_write", "dma_read",
                                             "dma_write"}));
}

TEST(Gather, refuses_an_index_outside_the_table) {
  for (int32_t bad : {-2, 2}) {
    RunOptions o = on(1);
    o.inputs["idx"] = HostTensor::from(DType::i32, {1}, std::vector<int32_t>{bad});
    EXPECT_THROW(run_kernel("gather", {{"n", "1"}, {"rows", "2"}, {"cols", "4"}}, o), KernelFault);
  }
}

TEST(Dropout, draws_the_same_numbers_for_any_number_of_pes) {
  for (const char* t : {"f32", "f16", "bf16"}) expect_verified("dropout", {{"n", "40001"}, {"dtype", t}}, on(3));
  for (const char* p : {"0", "0.999", "0.1"})
    expect_verified("dropout", {{"n", "5000"}, {"p", p}, {"seed", "77"}}, on(8));
  const TensorMap one = run_kernel("dropout", {{"n", "3000"}}, on(1)).outputs;
  const TensorMap many = run_kernel("dropout", {{"n", "3000"}}, on(7)).outputs;
  EXPECT_EQ(one.at("y").bytes, many.at("y").bytes);
}

TEST(Cumsum, adds_up_rows_over_several_blocks) {
  for (const char* t : {"f32", "f16", "bf16", "i8", "i32"}) {
    expect_verified("cumsum", {{"rows", "13"}, {"cols", "75"}, {"dtype", t}}, on(4));
    expect_verified("cumsum", {{"rows", "3"}, {"cols", "9001"}, {"dtype", t}}, on(2));
  }
  expect_verified("cumsum", {{"rows", "1"}, {"cols", "1"}}, on(8));
}

TEST(Sort, orders_rows_both_ways) {
  for (const char* t : {"f32", "f16", "bf16", "i8", "u16", "i32"}) {
    for (const char* down : {"true", "false"})
      expect_verified("sort", {{"rows", "21"}, {"cols", "67"}, {"descending", down}, {"dtype", t}}, on(4));
  }
  expect_verified("sort", {{"rows", "2"}, {"cols", "1"}}, on(8));
}

TEST(Topk, gives_the_largest_and_where_they_are) {
  for (const char* t : {"f32", "f16", "bf16", "i32"})
    expect_verified("topk", {{"rows", "21"}, {"cols", "67"}, {"k", "5"}, {"dtype", t}}, on(4));
  expect_verified("topk", {{"rows", "3"}, {"cols", "9"}, {"k", "9"}}, on(2));
}

TEST(GemmW4, multiplies_weights_of_four_bits) {
  for (const char* t : {"f16", "bf16"}) {
    expect_verified("gemm_w4", {{"m", "70"}, {"n", "75"}, {"k", "192"}, {"dtype", t}}, on(4));
    expect_verified("gemm_w4", {{"m", "3"}, {"n", "1"}, {"k", "6"}, {"group", "2"}, {"dtype", t}}, on(8));
    expect_verified("gemm_w4",
                    {{"m", "65"}, {"n", "66"}, {"k", "300"}, {"group", "100"}, {"tile_k", "7"}, {"dtype", t}}, on(1));
  }
}

TEST(Verification, notices_one_wrong_element) {
  const KernelSpec& spec = KernelRegistry::instance().at("gemm");
  KernelRun run = run_kernel("gemm", {{"m", "8"}, {"n", "8"}, {"k", "8"}}, on(2));
  const Expected want = spec.reference(run.params, run.inputs).at("c");
  EXPECT_TRUE(compare("c", run.outputs.at("c"), want).passed);
  std::vector<float> v = run.outputs.at("c").floats();
  v[37] += 0.01f;
  EXPECT_FALSE(compare("c", HostTensor::from(DType::f32, {8, 8}, v), want).passed);
}

}  // namespace
}  // namespace kernbench::testing
