// SPDX-License-Identifier: Apache-2.0
// A model's file, a config.json or YAML with the same words, as fields by name; and the model that it describes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kernbench/platform/models/model_spec.h"

namespace kernbench::models {

/// Fields by name, those of an object inside with a point between: rope_scaling.factor. One that is null is none.
class ModelFile {
 public:
  enum class Kind : uint8_t { text, number, flag, list, object };
  struct Field {
    Kind kind = Kind::object;
    std::string text;                     ///< of a flag: true or false
    int line = 0;                         ///< 0: not known
    std::vector<std::string> items = {};  ///< of a list, their texts
  };
  ModelFile(std::string name, std::map<std::string, Field> fields, std::set<std::string> nulls = {})
      : name_(std::move(name)), fields_(std::move(fields)), nulls_(std::move(nulls)) {}

  const std::string& name() const { return name_; }
  const std::map<std::string, Field>& fields() const { return fields_; }
  bool has(std::string_view field) const { return find(field) != nullptr; }
  /// Whether the file says that there is none; has() is false then too.
  bool is_null(std::string_view field) const { return nulls_.count(std::string(field)) > 0; }

  // InputError with file, line and field where one is missing that has no fallback, or is of another kind.
  std::string text(std::string_view field, std::optional<std::string> fallback = {}) const;
  /// 1 or more, at most 2^40; with a fallback of 0 also 0.
  int64_t whole(std::string_view field, std::optional<int64_t> fallback = {}) const;
  double number(std::string_view field, std::optional<double> fallback = {}) const;  ///< above 0
  bool flag(std::string_view field, bool fallback) const;
  /// Texts of a list's items; none where the file lacks it.
  std::vector<std::string> list(std::string_view field) const;
  /// So many numbers above 0.
  std::vector<double> numbers(std::string_view field, size_t count) const;
  /// Says of a field what was expected instead of what it has.
  [[noreturn]] void refuse(std::string_view field, const std::string& expected) const;

 private:
  const Field* find(std::string_view field) const;
  [[noreturn]] void missing(std::string_view field) const;
  std::string name_;
  std::map<std::string, Field> fields_;
  std::set<std::string> nulls_;
};

/// JSON in a file of another name than *.json is read as the YAML that it is. TopologyError: broken YAML or JSON.
/// InputError: a file of something else, an unknown model_type (told with those there are), fields that are missing
/// (all in one line), of another kind or size, or that contradict each other; in YAML also an unknown field.
ModelSpec read_model(const std::string& file);
/// The same of a text; `name` is what faults begin with.
ModelSpec read_model_text(const std::string& text, const std::string& name);

}  // namespace kernbench::models
