// SPDX-License-Identifier: Apache-2.0
// Rotation frequencies of models with scaled positions, against values from Hugging Face's formulas for the published
// files (gpt-oss 20B, Qwen2.5 with YaRN, Llama 3.1).
#include <gtest/gtest.h>

#include <map>

#include "kernbench/platform/models/model_file.h"

namespace kernbench::testing::rope_frequencies_test {

models::ModelSpec model(const std::string& head_dim, const std::string& theta, const std::string& scaling) {
  return models::read_model_text(
      R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 8, "num_hidden_layers": 1,
          "num_attention_heads": 1, "num_key_value_heads": 1, "vocab_size": 8, "max_position_embeddings": 131072,
          "head_dim": )" +
          head_dim + R"(, "rope_theta": )" + theta + R"(, "rope_scaling": )" + scaling + "}",
      "config.json");
}

void expect_frequencies(const models::ModelSpec& m, const std::map<size_t, double>& of_pairs) {
  const std::vector<double> all = rope_frequencies(m);
  ASSERT_EQ(all.size(), static_cast<size_t>(m.head_dim / 2));
  for (const auto& [pair, frequency] : of_pairs) EXPECT_NEAR(all[pair], frequency, 1e-12 * frequency) << pair;
}

TEST(RopeFrequencies, of_yarn_between_fractions_of_pairs) {
  const models::ModelSpec m =
      model("64", "150000", R"({"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                "original_max_position_embeddings": 4096, "truncate": false})");
  expect_frequencies(m, {{0, 1.0},
                         {8, 0.050813274815461475},
                         {9, 0.03170569618466377},
                         {12, 0.006794959489732219},
                         {17, 0.00012931870124506317},
                         {18, 3.8308812373753384e-05},
                         {31, 3.0235114281192144e-07}});
  EXPECT_DOUBLE_EQ(m.rope_scaling.amplitude, 1.3465735902799727);  // 0.1 ln 32 + 1
}

TEST(RopeFrequencies, of_yarn_between_whole_pairs) {
  const models::ModelSpec m =
      model("128", "1000000", R"({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768})");
  expect_frequencies(m, {{0, 1.0},
                         {23, 0.006978305848598663},
                         {24, 0.005375321490790102},
                         {30, 0.0010643609812470017},
                         {39, 6.490394320837028e-05},
                         {40, 4.445698525097307e-05},
                         {63, 3.102344401879299e-07}});
  EXPECT_DOUBLE_EQ(
      model("128", "10000", R"({"type": "yarn", "factor": 4, "attention_factor": 0.5})").rope_scaling.amplitude, 0.5);
}

TEST(RopeFrequencies, of_llama3) {
  const models::ModelSpec m =
      model("128", "500000", R"({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                 "original_max_position_embeddings": 8192})");
  expect_frequencies(m, {{0, 1.0},
                         {28, 0.0032114459947525913},
                         {29, 0.002166570763503359},
                         {31, 0.0008567514129196321},
                         {34, 0.00017850781276799638},
                         {35, 9.556212353964683e-05},
                         {63, 3.068925988914511e-07}});
  EXPECT_EQ(m.rope_scaling.amplitude, 1);
}

}  // namespace kernbench::testing::rope_frequencies_test
