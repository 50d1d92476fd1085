// SPDX-License-Identifier: Apache-2.0
// The values of one YAML document, with their lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::topology {

struct YamlItem;

/// A value. Only documents create values.
struct YamlValue {
  enum class Kind : uint8_t { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;
  int line = 0;                 ///< from 1
  std::string text;             ///< of a scalar
  std::vector<YamlItem> items;  ///< of a list or map
};

/// A reference to a document's value, undefined if there is none. The document must outlive it.
class YamlNode {
 public:
  YamlNode() = default;
  explicit YamlNode(const YamlValue* value) : value_(value) {}

  bool is_defined() const { return value_ != nullptr; }
  bool is_null() const { return is(YamlValue::Kind::null); }
  bool is_scalar() const { return is(YamlValue::Kind::scalar); }
  bool is_list() const { return is(YamlValue::Kind::list); }
  bool is_map() const { return is(YamlValue::Kind::map); }
  /// A quoted scalar is neither number nor boolean.
  bool is_quoted() const { return value_ && value_->quoted; }
  /// Of a scalar; else empty.
  std::string_view text() const { return value_ ? value_->text : std::string_view(); }
  /// 0 if undefined.
  int line() const { return value_ ? value_->line : 0; }
  /// Items of a list or map.
  size_t size() const { return value_ ? value_->items.size() : 0; }
  /// The item of a list, from 0; undefined beyond its end.
  YamlNode operator[](size_t index) const;
  const YamlItem* begin() const { return value_ ? value_->items.data() : nullptr; }
  const YamlItem* end() const;

 private:
  bool is(YamlValue::Kind k) const { return value_ && value_->kind == k; }
  const YamlValue* value_ = nullptr;
};

/// One item of a list or map, in the order of the file.
struct YamlItem {
  YamlNode key;  ///< undefined in a list
  YamlNode value;
};

inline YamlNode YamlNode::operator[](size_t index) const {
  return is_list() && index < size() ? value_->items[index].value : YamlNode();
}
inline const YamlItem* YamlNode::end() const {
  return begin() + size();
}

/// Owns the values; their addresses are stable.
struct YamlDocument {
  std::deque<YamlValue> values;
  std::list<YamlDocument> parts;  ///< included documents, whose values this one refers to
  YamlNode root;
};

constexpr size_t kLongestText = size_t{1} << 28;  ///< bytes

/// The single document of a file. A text that is too long, binary, invalid YAML, or has no or several documents is an
/// error, and the root is undefined.
YamlDocument parse_yaml(const std::string& text, FaultList&);

/// The same for JSON in a file whose name ends in .json. Duplicate keys in an object are errors too.
YamlDocument parse_document(const std::string& text, FaultList&);

}  // namespace kernbench::topology
