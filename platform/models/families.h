// SPDX-License-Identifier: Apache-2.0
// The model families that can be read. A row gives a family's model_type, its required fields and its other properties.
// A new family is a new row of families.cpp (docs/models.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/models/model_file.h"
#include "kernbench/platform/models/model_spec.h"

namespace kernbench::models {

/// Defaults for missing fields, as in the family's configuration class in Hugging Face's transformers.
struct FamilyDefaults {
  double rope_theta = 10000, eps = 1e-6;
  int64_t positions = 32768;
  int64_t kv_heads = 0;  ///< 0: equal to the heads of q
  int64_t head_dim = 0;  ///< 0: hidden_size / heads
  RopeScaling rope_scaling = {};
  std::string_view activation = "silu";  ///< as in hidden_act
  double rotary = 1;                     ///< fraction of a head that is rotated
};

/// Field names that some families spell differently.
struct FamilyWords {
  std::string_view eps = "rms_norm_eps", rope_theta = "rope_theta";
  std::string_view rotary = {};  ///< fraction of a head that is rotated; empty: the whole head
};

/// Properties that all models of the family share, if they differ from llama's.
struct FamilyParts {
  bool layer_norm = false;  ///< layer norm with bias instead of rmsnorm
  bool gated = true;        ///< MLP with a gate
};

struct Family {
  std::string_view name;                         ///< model_type
  std::string_view help;                         ///< one line: how it differs from other families
  std::vector<std::string_view> required;        ///< in addition to the fields that all families need
  std::vector<std::string_view> optional;        ///< in addition to the fields that all families allow
  void (*settle)(const ModelFile&, ModelSpec*);  ///< sets the fields' meaning and the family's fixed properties
  FamilyDefaults defaults = {};
  FamilyParts parts = {};
  FamilyWords words = {};
};

const std::vector<Family>& families();
/// Null for an unknown name.
const Family* find_family(std::string_view name);
/// Fields that every family's file must have, and those that it may have.
const std::vector<std::string_view>& common_required();
const std::vector<std::string_view>& common_optional();

}  // namespace kernbench::models
