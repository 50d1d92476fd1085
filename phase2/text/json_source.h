// SPDX-License-Identifier: Apache-2.0
// Described records (fields.h) read back from JSON that JsonFields has written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernbench/phase2/text/fields.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench::phase2 {

/// Fills a record's variables. Fields of expressions are passed over, and so is a key that no description names.
class JsonSource : public Fields {
 public:
  explicit JsonSource(const nlohmann::ordered_json& root) : Fields(Form::source), at_{&root}, next_(&root) {}

  /// JsonFault with the field's path in front: "engines: [3]: ops: found …". Nothing is said of the record's state
  /// then.
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

  std::vector<const nlohmann::ordered_json*> at_;  // the lists and objects that are open
  std::vector<std::string> names_{""};             // of each, and of the field in it
  const nlohmann::ordered_json* next_;             // the value that comes
};

/// The record that a text has. JsonFault.
template <class T>
T read_record(std::string_view json) {
  const auto root = parse_json<nlohmann::ordered_json>(json);
  T record{};
  JsonSource(root).read(record);
  return record;
}

}  // namespace kernbench::phase2
