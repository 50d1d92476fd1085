// SPDX-License-Identifier: Apache-2.0
// Kernels of neural networks: fused GEMM, softmax, norms, attention, mlp, in every float type.
#include <gtest/gtest.h>

#include "kernel_harness.h"

namespace kernbench::testing::network_kernels {
namespace {

const char* const kFloats[] = {"f32", "f16", "bf16"};

RunOptions on(uint32_t pes, uint64_t seed = 1, uint64_t tcm_bytes = 1 << 20) {
  RunOptions o;
  o.pes = pes;
  o.seed = seed;
  o.tcm_bytes = tcm_bytes;
  return o;
}

TEST(GemmEpilogue, adds_the_bias_and_applies_every_activation) {
  for (const char* t : kFloats) {
    for (const char* act : {"none", "relu", "gelu", "silu"}) {
      expect_verified("gemm_epilogue", {{"m", "50"}, {"n", "75"}, {"k", "33"}, {"activation", act}, {"dtype", t}},
                      on(4));
    }
  }
  expect_verified("gemm_epilogue", {{"m", "2"}, {"n", "1"}, {"k", "130"}}, on(8, 4));
  expect_verified("gemm_epilogue", {{"m", "1"}, {"n", "20000"}, {"k", "3"}}, on(1));
}

TEST(Softmax, agrees_with_the_reference_for_narrow_and_wide_rows) {
  for (const char* t : kFloats) {
    expect_verified("softmax", {{"rows", "37"}, {"cols", "75"}, {"dtype", t}}, on(4));
    expect_verified("softmax", {{"rows", "9"}, {"cols", "10001"}, {"dtype", t}}, on(2));
    expect_verified("softmax", {{"rows", "3"}, {"cols", "1"}, {"dtype", t}}, on(8));
  }
  expect_verified("softmax", {{"rows", "2"}, {"cols", "4096"}}, on(1));
  expect_verified("softmax", {{"rows", "2"}, {"cols", "4097"}}, on(1));
}

TEST(RmsNorm, agrees_with_the_reference_for_narrow_and_wide_rows) {
  for (const char* t : kFloats) {
    expect_verified("rmsnorm", {{"rows", "37"}, {"cols", "75"}, {"dtype", t}}, on(4));
    expect_verified("rmsnorm", {{"rows", "9"}, {"cols", "10001"}, {"dtype", t}}, on(2));
    expect_verified("rmsnorm", {{"rows", "3"}, {"cols", "1"}, {"eps", "0.5"}, {"dtype", t}}, on(8));
  }
}

TEST(LayerNorm, agrees_with_the_reference_for_narrow_and_wide_rows) {
  for (const char* t : kFloats) {
    for (const char* bias : {"true", "false"}) {
      expect_verified("layer_norm", {{"rows", "37"}, {"cols", "75"}, {"bias", bias}, {"dtype", t}}, on(4));
      expect_verified("layer_norm", {{"rows", "9"}, {"cols", "10001"}, {"bias", bias}, {"dtype", t}}, on(2));
      expect_verified("layer_norm", {{"rows", "3"}, {"cols", "1"}, {"eps", "0.5"}, {"bias", bias}, {"dtype", t}},
                      on(8));
    }
  }
}

TEST(Attention, agrees_with_the_reference_causal_or_not_whatever_the_split) {
  for (const char* t : kFloats) {
    for (const char* causal : {"true", "false"}) {
      expect_verified("attention", {{"heads", "3"}, {"seq", "150"}, {"dim", "40"}, {"causal", causal}, {"dtype", t}},
                      on(4));
      expect_verified("attention", {{"heads", "2"}, {"seq", "7"}, {"dim", "5"}, {"causal", causal}, {"dtype", t}},
                      on(5, 3));
      expect_verified("attention", {{"heads", "1"}, {"seq", "1"}, {"dim", "1"}, {"causal", causal}, {"dtype", t}},
                      on(8, 5));
    }
  }
  expect_verified("attention", {{"heads", "4"}, {"seq", "256"}, {"dim", "64"}}, on(8));
  expect_verified("attention", {{"heads", "1"}, {"seq", "20"}, {"dim", "3000"}}, on(1));
}

TEST(Attention, of_causal_rows_that_pes_exchange_agrees_with_the_reference) {
  // Blocks of different lengths, one or two rows per PE, fewer rows than PEs, heads that end inside a PE, several
  // blocks per PE.
  for (const auto& [heads, seq, pes] :
       {std::tuple(1, 17, 8), {2, 17, 8}, {3, 5, 8}, {1, 7, 8}, {3, 257, 5}, {1, 1000, 3}}) {
    expect_verified("attention",
                    {{"heads", std::to_string(heads)}, {"seq", std::to_string(seq)}, {"dim", "8"}, {"causal", "true"}},
                    on(static_cast<uint32_t>(pes)));
  }
}

TEST(Attention, touches_no_keys_that_a_causal_query_cannot_see) {
  const Given shape{{"heads", "1"}, {"seq", "256"}, {"dim", "16"}};
  Given causal = shape;
  causal.emplace_back("causal", "true");
  const auto loads = [](const KernelRun& run) {
    uint64_t bytes = 0;
    for (const auto& c : run.commands[0]) {
      if (c->name == "dma_read") bytes += c->output.nbytes();
    }
    return bytes;
  };
  // Queries 256 · 16 · 4 bytes; keys and values 2 · (1 + 2 + 3 + 4) blocks of 64 rows, or 2 · 4 · 4 of them.
  EXPECT_EQ(loads(run_kernel("attention", causal, on(1))), 256u * 64 + 20 * 64 * 64);
  EXPECT_EQ(loads(run_kernel("attention", shape, on(1))), 256u * 64 + 32 * 64 * 64);
}

TEST(Mlp, agrees_with_the_reference_for_both_activations) {
  for (const char* t : kFloats) {
    for (const char* act : {"gelu", "silu"}) {
      expect_verified("mlp", {{"tokens", "50"}, {"dim", "33"}, {"hidden", "75"}, {"activation", act}, {"dtype", t}},
                      on(4));
    }
  }
  expect_verified("mlp", {{"tokens", "300"}, {"dim", "16"}, {"hidden", "64"}}, on(1));
  expect_verified("mlp", {{"tokens", "3"}, {"dim", "4"}, {"hidden", "40000"}}, on(2));
}

TEST(Kernels, verify_with_many_seeds_in_the_coarse_types) {
  for (uint64_t seed = 10; seed < 18; ++seed) {
    for (const char* t : {"f16", "bf16"}) {
      expect_verified("attention", {{"heads", "2"}, {"seq", "64"}, {"dim", "16"}, {"causal", "true"}, {"dtype", t}},
                      on(2, seed));
      expect_verified("mlp", {{"tokens", "16"}, {"dim", "64"}, {"hidden", "128"}, {"dtype", t}}, on(2, seed));
      expect_verified("rmsnorm", {{"rows", "16"}, {"cols", "200"}, {"dtype", t}}, on(2, seed));
      expect_verified("softmax", {{"rows", "16"}, {"cols", "8"}, {"dtype", t}}, on(2, seed));
    }
  }
}

TEST(Kernels, fit_in_a_tcm_of_one_megabyte_whatever_the_shape) {
  const uint64_t tcm = (1 << 20) - (256 << 10);  // the space that a reserved region may leave
  expect_verified("vector_add", {{"n", "200000"}}, on(1, 1, tcm));
  expect_verified("gather", {{"n", "2"}, {"rows", "2"}, {"cols", "100000"}}, on(1, 1, tcm));
  expect_verified("softmax", {{"rows", "20"}, {"cols", "50000"}}, on(1, 1, tcm));
  expect_verified("rmsnorm", {{"rows", "20"}, {"cols", "50000"}}, on(1, 1, tcm));
  expect_verified("layer_norm", {{"rows", "20"}, {"cols", "50000"}}, on(1, 1, tcm));
  expect_verified("attention", {{"heads", "1"}, {"seq", "200"}, {"dim", "128"}}, on(1, 1, tcm));
  expect_verified("attention", {{"heads", "1"}, {"seq", "3"}, {"dim", "8192"}}, on(1, 1, tcm));
  expect_verified("mlp", {{"tokens", "4"}, {"dim", "3"}, {"hidden", "65536"}}, on(1, 1, tcm));
  expect_verified("gemm_dot", {{"m", "300"}, {"n", "300"}, {"k", "300"}, {"tile_m", "128"}, {"tile_n", "128"}},
                  on(1, 1, tcm));
}

}  // namespace
}  // namespace kernbench::testing::network_kernels
