// SPDX-License-Identifier: Apache-2.0
// Reads described records (fields.h) from JSON that JsonFields wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernbench/phase2/text/fields.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench::phase2 {

/// Fills the variables of a record. It ignores fields that are expressions, and keys that no description names.
class JsonSource : public Fields {
 public:
  explicit JsonSource(const nlohmann::ordered_json& root) : Fields(Form::source), at_{&root}, next_(&root) {}

  /// JsonFault that begins with the field's path: "engines: [3]: ops: found …". The record's state is then undefined.
  template <class T>
  void read(T& r) {
    try {
      value(r);
    } catch (const JsonFault& e) {
      throw JsonFault(path() + e.what());
    }
  }

 protected:
  bool begin(std::string_view name, const Shown&, Kind) override;
  void scalar(const Scalar&) override;
  void open(char bracket) override;
  void close(char bracket) override;
  void item(size_t) override;
  bool has(std::string_view name, bool) override { return at_.back()->contains(name); }
  bool is_like(const Scalar&) override;
  bool present(bool) override { return !next_->is_null(); }
  size_t size() override { return at_.back()->size(); }
  std::vector<std::string> keys() override;
  [[noreturn]] void refuse() override;

 private:
  std::string path() const;

  std::vector<const nlohmann::ordered_json*> at_;  // the open lists and objects
  std::vector<std::string> names_{""};             // names of these, and of the current field
  const nlohmann::ordered_json* next_;             // the next value
};

/// Reads a record from a text. JsonFault.
template <class T>
T read_record(std::string_view json) {
  const auto root = parse_json<nlohmann::ordered_json>(json);
  T record{};
  JsonSource(root).read(record);
  return record;
}

}  // namespace kernbench::phase2
