// SPDX-License-Identifier: Apache-2.0
// Fields that a config.json omits have the family's defaults: values of the configuration classes of transformers 4.57.
#include <gtest/gtest.h>

#include "kernbench/platform/models/model_file.h"

namespace kernbench::testing::families_have_their_defaults_test {

models::ModelSpec model(const std::string& type, const std::string& more = "") {
  return models::read_model_text(
      R"({"hidden_size": 4096, "intermediate_size": 8, "num_hidden_layers": 30, "num_attention_heads": 64,
          "vocab_size": 8, "num_local_experts": 8, "num_experts": 8, "num_experts_per_tok": 2,
          "moe_intermediate_size": 8, "model_type": ")" +
          type + "\"" + more + "}",
      "config.json");
}

TEST(Families, have_their_defaults) {
  struct Defaults {
    const char* type;
    double theta, eps;
    int64_t positions, kv_heads, head_dim, window;
  };
  for (const Defaults& d : {Defaults{"llama", 1e4, 1e-6, 2048, 64, 64, 0},
                            {"mistral", 1e4, 1e-6, 131072, 8, 64, 4096},
                            {"qwen2", 1e4, 1e-6, 32768, 32, 64, 0},
                            {"qwen3", 1e4, 1e-6, 32768, 32, 128, 0},
                            {"mixtral", 1e6, 1e-5, 131072, 8, 64, 0},
                            {"qwen3_moe", 1e4, 1e-6, 32768, 4, 64, 0},
                            {"gpt_oss", 150000, 1e-5, 131072, 8, 64, 128},
                            {"gemma2", 1e4, 1e-6, 8192, 4, 256, 4096},
                            {"gemma3_text", 1e6, 1e-6, 131072, 4, 256, 4096},
                            {"phi3", 1e4, 1e-5, 4096, 64, 64, 0},
                            {"granite", 1e4, 1e-6, 2048, 64, 64, 0},
                            {"starcoder2", 1e4, 1e-5, 4096, 2, 64, 0},
                            {"stablelm", 1e4, 1e-5, 4096, 32, 64, 0},
                            {"phi", 1e4, 1e-5, 2048, 64, 64, 0},
                            {"gpt_neox", 1e4, 1e-5, 2048, 64, 64, 0}}) {
    const models::ModelSpec m = model(d.type);
    EXPECT_EQ(m.rope_theta, d.theta) << d.type;
    EXPECT_EQ(m.eps, d.eps) << d.type;
    EXPECT_EQ(m.positions, d.positions) << d.type;
    EXPECT_EQ(m.kv_heads, d.kv_heads) << d.type;
    EXPECT_EQ(m.head_dim, d.head_dim) << d.type;
    EXPECT_EQ(m.window, d.window) << d.type;
    EXPECT_EQ(m.rope_scaling.kind == models::RopeScaling::Kind::yarn, d.type == std::string("gpt_oss")) << d.type;
  }
  EXPECT_EQ(model("gemma", R"(, "head_dim": 256)").kv_heads, 16);
}

TEST(Families, turn_their_share_of_a_head) {
  EXPECT_EQ(model("llama").rotary, 64);
  EXPECT_EQ(model("starcoder2").rotary, 64);
  EXPECT_EQ(model("stablelm").rotary, 16);
  EXPECT_EQ(model("phi").rotary, 32);
  EXPECT_EQ(model("gpt_neox").rotary, 16);
  EXPECT_EQ(model("phi", R"(, "rope_parameters": {"rope_theta": 10000.0, "partial_rotary_factor": 0.375})").rotary, 24);
}

TEST(Families, tell_null_from_what_is_not_there) {
  const auto window = [](const std::string& type, const std::string& more) { return model(type, more).window; };
  EXPECT_EQ(window("mistral", R"(, "sliding_window": null)"), 0);
  EXPECT_EQ(window("qwen2", R"(, "use_sliding_window": true)"), 4096);
  EXPECT_EQ(window("qwen2", R"(, "use_sliding_window": true, "sliding_window": null)"), 0);
  EXPECT_EQ(model("gpt_oss", R"(, "rope_scaling": null)").rope_scaling.kind, models::RopeScaling::Kind::none);
}

TEST(Families, have_windows_where_theirs_are) {
  const std::string windowed = R"(, "use_sliding_window": true, "sliding_window": 9)";
  EXPECT_EQ(model("qwen3", windowed).window_of(27), 0);
  EXPECT_EQ(model("qwen3", windowed).window_of(28), 9);
  EXPECT_EQ(model("qwen3_moe", windowed).window_of(0), 9);  // in all layers, regardless of max_window_layers
  EXPECT_EQ(model("gpt_oss").window_of(0), 128);
  EXPECT_EQ(model("gpt_oss").window_of(1), 0);
  EXPECT_EQ(model("gemma2").window_of(0), 4096);
  EXPECT_EQ(model("gemma2").window_of(1), 0);
  EXPECT_EQ(model("gemma3_text").window_of(4), 4096);
  EXPECT_EQ(model("gemma3_text").window_of(5), 0);
}

}  // namespace kernbench::testing::families_have_their_defaults_test
