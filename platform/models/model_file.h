// SPDX-License-Identifier: Apache-2.0
// A model's file (config.json, or YAML with the same keys) as fields by name, and the model that it describes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kernbench/platform/models/model_spec.h"

namespace kernbench::models {

/// Fields by name. Fields of a nested object are joined by a dot: rope_scaling.factor. A null field counts as absent.
class ModelFile {
 public:
  enum class Kind : uint8_t { text, number, flag, list, object };
  struct Field {
    Kind kind = Kind::object;
    std::string text;                     ///< flags: true or false
    int line = 0;                         ///< 0: unknown
    std::vector<std::string> items = {};  ///< texts of a list's items
  };
  ModelFile(std::string name, std::map<std::string, Field> fields, std::set<std::string> nulls = {})
      : name_(std::move(name)), fields_(std::move(fields)), nulls_(std::move(nulls)) {}

  const std::string& name() const { return name_; }
  const std::map<std::string, Field>& fields() const { return fields_; }
  bool has(std::string_view field) const { return find(field) != nullptr; }
  /// Whether the file sets the field to null; has() is then false too.
  bool is_null(std::string_view field) const { return nulls_.count(std::string(field)) > 0; }

  // Getters. InputError with file, line and field if a field without fallback is missing, or has another kind.
  std::string text(std::string_view field, std::optional<std::string> fallback = {}) const;
  /// 1 to 2^40; with a fallback of 0 also 0.
  int64_t whole(std::string_view field, std::optional<int64_t> fallback = {}) const;
  double number(std::string_view field, std::optional<double> fallback = {}) const;  ///< > 0
  bool flag(std::string_view field, bool fallback) const;
  /// Texts of a list's items; empty if the field is absent.
  std::vector<std::string> list(std::string_view field) const;
  /// Exactly this many numbers > 0.
  std::vector<double> numbers(std::string_view field, size_t count) const;
  /// Throws InputError that states what was expected of a field.
  [[noreturn]] void refuse(std::string_view field, const std::string& expected) const;

 private:
  const Field* find(std::string_view field) const;
  [[noreturn]] void missing(std::string_view field) const;
  std::string name_;
  std::map<std::string, Field> fields_;
  std::set<std::string> nulls_;
};

/// JSON in a file not named *.json is read as YAML. TopologyError: broken YAML or JSON. InputError: another kind of
/// file, an unknown model_type (lists the known ones), missing fields (all in one line), fields of wrong kind or size
/// or that contradict each other; in YAML also an unknown field.
ModelSpec read_model(const std::string& file);
/// Reads from a text; errors begin with `name`.
ModelSpec read_model_text(const std::string& text, const std::string& name);

}  // namespace kernbench::models
