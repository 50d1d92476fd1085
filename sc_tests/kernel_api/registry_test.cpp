// SPDX-License-Identifier: Apache-2.0
// Kernels by name, their parameters, and the messages about wrong ones.
#include "kernbench/kernel_api/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kernbench {
namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

const KernelSpec& kernel(const std::string& name) {
  return KernelRegistry::instance().at(name);
}

std::string complaint(const std::string& name, const Given& given) {
  try {
    (void)kernel_params(kernel(name), given);
  } catch (const BadParam& e) {
    return e.what();
  }
  return "";
}

TEST(Registry, lists_the_kernels_that_must_exist_sorted_and_complete) {
  std::vector<std::string> names;
  for (const KernelSpec* k : KernelRegistry::instance().all()) {
    names.push_back(k->name);
    EXPECT_FALSE(k->help.empty());
    EXPECT_TRUE(k->function && k->reference) << k->name;
    for (const ParamSpec& p : k->params) EXPECT_FALSE(p.help.empty()) << k->name << " " << p.name;
    const Params defaults = kernel_params(*k, {});
    bool has_output = false;
    for (const TensorSpec& t : k->tensors) {
      EXPECT_GT(t.shape(defaults).elements(), 0);
      (void)t.dtype(defaults);
      has_output |= t.is_output();
    }
    EXPECT_TRUE(has_output || k->tensors.empty()) << k->name;  // a barrier has none
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  const std::set<std::string> have(names.begin(), names.end());
  for (const char* must : {"vector_add", "gemm", "gemm_dot", "gemm_epilogue", "softmax", "rmsnorm", "attention", "mlp",
                           "gather", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
                           "sendrecv", "barrier", "tp_linear", "tp_gemm_all_reduce"}) {
    EXPECT_EQ(have.count(must), 1u) << must;
  }
  EXPECT_TRUE(KernelRegistry::instance().conflicts().empty());
}

TEST(Registry, an_unknown_kernel_is_answered_with_the_known_ones) {
  try {
    (void)kernel("gem");
    FAIL();
  } catch (const BadParam& e) {
    EXPECT_NE(std::string(e.what()).find("no kernel 'gem', did you mean 'gemm'? there are add_bias, all_gather, "),
              std::string::npos)
        << e.what();
  }
}

TEST(Registry, a_taken_name_keeps_its_first_owner) {
  KernelRegistry r;
  KernelSpec a;
  a.name = "x";
  a.help = "first";
  r.add(a);
  a.help = "second";
  r.add(a);
  EXPECT_EQ(r.find("x")->help, "first");
  EXPECT_EQ(r.conflicts(), std::vector<std::string>{"x"});
}

TEST(Params, defaults_hold_unless_given) {
  const Params p = kernel_params(kernel("gemm"), {{"m", "100"}, {"dtype", "bf16"}});
  EXPECT_EQ(p.integer("m"), 100);
  EXPECT_EQ(p.integer("tile_m"), 32);
  EXPECT_EQ(p.integer("tile_n"), 32);
  EXPECT_EQ(p.integer("tile_k"), 64);
  EXPECT_EQ(p.dtype(), DType::bf16);
  EXPECT_TRUE(kernel_params(kernel("attention"), {{"causal", "true"}}).flag("causal"));
  EXPECT_EQ(kernel_params(kernel("rmsnorm"), {{"eps", "1e-3"}}).number("eps"), 1e-3);
  EXPECT_THROW((void)p.integer("dtype"), std::logic_error);
  EXPECT_THROW((void)p.integer("nope"), std::logic_error);
}

TEST(Params, wrong_ones_are_refused_with_what_is_legal) {
  EXPECT_EQ(complaint("gemm", {{"M", "1"}}),
            "kernel gemm has no parameter 'M'; it has m, n, k, tile_m, tile_n, tile_k, dtype");
  EXPECT_EQ(complaint("gemm", {{"m", "0"}}),
            "parameter 'm' of kernel gemm is '0'; legal: an integer, 1 to 1099511627776");
  EXPECT_EQ(complaint("gemm", {{"dtype", "f64"}}), "parameter 'dtype' of kernel gemm is 'f64'; legal: f32|f16|bf16|i8");
  EXPECT_EQ(complaint("gemm", {{"m", "1"}, {"m", "2"}}), "parameter 'm' of kernel gemm is given twice");
  EXPECT_EQ(complaint("gemm_epilogue", {{"activation", "elu"}}),
            "parameter 'activation' of kernel gemm_epilogue is 'elu'; legal: relu|none|gelu|silu");
  for (const char* bad : {"", "-3", "1.5", "1e3", "abc", " 4", "4 ", "4x", "99999999999999999999", "0x10"}) {
    EXPECT_NE(complaint("gemm", {{"m", bad}}), "") << "'" << bad << "'";
  }
  for (const char* bad : {"", "nan", "inf", "1e999", "-1", "1,5"}) {
    EXPECT_NE(complaint("rmsnorm", {{"eps", bad}}), "") << "'" << bad << "'";
  }
  EXPECT_NE(complaint("attention", {{"causal", "yes"}}), "");
  EXPECT_NE(complaint("gemm", {{"m", "1099511627776"}, {"k", "1099511627776"}}).find("too large"), std::string::npos);
}

TEST(Params, what_a_spec_has_left_out_is_named) {
  const auto said = [](const KernelSpec& spec) {
    try {
      kernel_params(spec, {});
    } catch (const BadParam& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  KernelSpec whole = kernel("gather"), s = whole;
  EXPECT_EQ(said(whole), "");
  s.tensors[0].dtype = nullptr;
  EXPECT_EQ(said(s), "kernel gather: tensor " + s.tensors[0].name + ": its spec has no dtype");
  s.tensors[0].shape = nullptr;
  EXPECT_EQ(said(s), "kernel gather: tensor " + s.tensors[0].name + ": its spec has no shape");
  s = whole;
  for (TensorSpec& t : s.tensors) t.init.k = nullptr;
  EXPECT_NE(said(s).find("its spec has no init.k"), std::string::npos);
  s.function = nullptr;
  EXPECT_EQ(said(s), "kernel gather: its spec has no function");
}

TEST(Inputs, are_seeded_and_within_their_range) {
  const Params p = kernel_params(kernel("gemm"), {{"m", "64"}, {"k", "100"}});
  const TensorSpec& a = *kernel("gemm").tensor("a");
  const TensorSpec& b = *kernel("gemm").tensor("b");
  EXPECT_EQ(make_input(a, p, 7).bytes, make_input(a, p, 7).bytes);
  EXPECT_NE(make_input(a, p, 7).bytes, make_input(a, p, 8).bytes);
  float top = 0;
  for (float v : make_input(a, p, 1).floats()) top = std::max(top, std::fabs(v));
  EXPECT_LE(top, 1.0f);
  EXPECT_GT(top, 0.99f);
  top = 0;
  for (float v : make_input(b, p, 1).floats()) top = std::max(top, std::fabs(v));
  EXPECT_LE(top, 0.1f) << "weights are scaled by 1/sqrt(K)";
  EXPECT_GT(top, 0.099f);
}

TEST(Inputs, of_gather_are_indices_with_some_minus_ones) {
  const Params p = kernel_params(kernel("gather"), {{"n", "1000"}, {"rows", "7"}});
  const std::vector<int32_t> idx = make_input(*kernel("gather").tensor("idx"), p, 1).ints();
  const std::set<int32_t> seen(idx.begin(), idx.end());
  EXPECT_EQ(seen, (std::set<int32_t>{-1, 0, 1, 2, 3, 4, 5, 6}));
}

TEST(References, of_a_tiny_gemm_are_right_by_hand) {
  const KernelSpec& k = kernel("gemm");
  const Params p = kernel_params(k, {{"m", "1"}, {"n", "2"}, {"k", "2"}});
  TensorMap in;
  in["a"] = HostTensor::from(DType::f32, {1, 2}, std::vector<float>{1, -2});
  in["b"] = HostTensor::from(DType::f32, {2, 2}, std::vector<float>{3, 4, 5, 6});
  const Expected c = k.reference(p, in).at("c");
  EXPECT_EQ(c.value.floats(), (std::vector<float>{-7, -8}));
  EXPECT_FLOAT_EQ(c.scale[0], 13 / std::sqrt(2.0f));
}

}  // namespace
}  // namespace kernbench
