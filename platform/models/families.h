// SPDX-License-Identifier: Apache-2.0
// The families of models that can be read: by model_type, which fields a file must have and what the family is beside
// them. A new family is a row of families.cpp (docs/models.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/models/model_file.h"
#include "kernbench/platform/models/model_spec.h"

namespace kernbench::models {

/// Of a file that does not say, as the family's configuration class of Hugging Face's transformers has them.
struct FamilyDefaults {
  double rope_theta = 10000, eps = 1e-6;
  int64_t positions = 32768;
  int64_t kv_heads = 0;  ///< 0: as many as heads of q
  int64_t head_dim = 0;  ///< 0: hidden_size over the heads
  RopeScaling rope_scaling = {};
  std::string_view activation = "silu";  ///< as hidden_act says it
  double rotary = 1;                     ///< share of a head that is turned
};

/// What some families' files call by names of their own.
struct FamilyWords {
  std::string_view eps = "rms_norm_eps", rope_theta = "rope_theta";
  std::string_view rotary = {};  ///< share of a head that is turned; none: all of it is
};

/// What all models of the family are made of, where it is not llama's.
struct FamilyParts {
  bool layer_norm = false;  ///< mean and variance, with a bias, in place of rmsnorm
  bool gated = true;        ///< the MLP
};

struct Family {
  std::string_view name;                         ///< model_type
  std::string_view help;                         ///< what sets it apart, one line
  std::vector<std::string_view> required;        ///< beside those that all families need
  std::vector<std::string_view> optional;        ///< beside those that all families may have
  void (*settle)(const ModelFile&, ModelSpec*);  ///< sets what these say, and what all models of the family are
  FamilyDefaults defaults = {};
  FamilyParts parts = {};
  FamilyWords words = {};
};

const std::vector<Family>& families();
/// Null for another name.
const Family* find_family(std::string_view name);
/// What every family's file must have, and what it may.
const std::vector<std::string_view>& common_required();
const std::vector<std::string_view>& common_optional();

}  // namespace kernbench::models
