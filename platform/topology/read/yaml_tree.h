// The values of one YAML document, with their lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::topology {

struct YamlItem;

/// One value. Only a document makes them.
struct YamlValue {
  enum class Kind : uint8_t { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;
  int line = 0;     ///< from 1
  size_t size = 0;  ///< items of a list or map, letters of a scalar
  union {
    const char* text = nullptr;  ///< of a scalar
    const YamlItem* first;       ///< of a list or map
  };
  YamlItem* last = nullptr;
};

/// A reference to a value of a document, which must outlive it; undefined where there is none.
class YamlNode {
 public:
  class Iterator;

  YamlNode() = default;
  explicit YamlNode(const YamlValue* value) : value_(value) {}

  bool is_defined() const { return value_ != nullptr; }
  bool is_null() const { return is(YamlValue::Kind::null); }
  bool is_scalar() const { return is(YamlValue::Kind::scalar); }
  bool is_list() const { return is(YamlValue::Kind::list); }
  bool is_map() const { return is(YamlValue::Kind::map); }
  /// Of a scalar: in quotes, so no number and no boolean.
  bool is_quoted() const { return value_ && value_->quoted; }
  /// Of a scalar; else empty.
  std::string_view text() const {
    return is_scalar() ? std::string_view(value_->text, value_->size) : std::string_view();
  }
  /// 0 if undefined.
  int line() const { return value_ ? value_->line : 0; }
  /// Items of a list or map.
  size_t size() const { return is_list() || is_map() ? value_->size : 0; }
  /// The item of a short list, from 0; undefined beyond its end.
  YamlNode operator[](size_t index) const;
  Iterator begin() const;
  Iterator end() const;

 private:
  bool is(YamlValue::Kind k) const { return value_ && value_->kind == k; }
  const YamlValue* value_ = nullptr;
};

/// One item of a list or map, in the order of the file.
struct YamlItem {
  YamlNode key;  ///< undefined in a list
  YamlNode value;
  const YamlItem* next = nullptr;
};

class YamlNode::Iterator {
 public:
  explicit Iterator(const YamlItem* item) : item_(item) {}
  const YamlItem& operator*() const { return *item_; }
  Iterator& operator++() {
    item_ = item_->next;
    return *this;
  }
  bool operator!=(const Iterator& other) const { return item_ != other.item_; }

 private:
  const YamlItem* item_;
};

inline YamlNode::Iterator YamlNode::begin() const {
  return Iterator(is_list() || is_map() ? value_->first : nullptr);
}
inline YamlNode::Iterator YamlNode::end() const {
  return Iterator(nullptr);
}

/// Owns the values. Scalars may be parts of the text it was read from, which must outlive it.
class YamlDocument {
 public:
  YamlNode root() const { return YamlNode(root_); }

  /// Values stay where they are.
  YamlValue& add_value(YamlValue::Kind, int line);
  void append(YamlValue& list, const YamlValue& value) { append(list, YamlNode(), value); }
  void append(YamlValue& map, const YamlValue& key, const YamlValue& value) { append(map, YamlNode(&key), value); }
  /// A scalar's text, which outlives the document.
  static void set_text(YamlValue& scalar, std::string_view text) {
    scalar.text = text.data();
    scalar.size = text.size();
  }
  /// A scalar's text, of which the document keeps a copy.
  void keep_text(YamlValue& scalar, const std::string& text) { set_text(scalar, kept_.emplace_back(text)); }
  void set_root(const YamlValue& root) { root_ = &root; }

 private:
  void append(YamlValue& to, YamlNode key, const YamlValue& value);
  std::deque<YamlValue> values_;
  std::deque<YamlItem> items_;
  std::deque<std::string> kept_;
  const YamlValue* root_ = nullptr;
};

constexpr size_t kLongestText = size_t{1} << 28;  ///< bytes

/// The one document of a file. A text that is too long, is no text, holds no document or more than one, or is broken
/// YAML is a fault, and the root undefined. `text` must outlive the document.
YamlDocument parse_yaml(const std::string& text, FaultList&);

/// The document by yaml-cpp alone; throws YAML::Exception.
YamlDocument parse_any_yaml(const std::string& text, FaultList&);

/// The document if all of it is in the small part of YAML that programs write: blocks of maps and lists, maps and lists
/// in brackets, and words without quotes, blanks or anything special. Reads the same values, on the same lines, as
/// yaml-cpp, in a small part of the time (docs/performance.md). Whatever else stands in the
/// file, right or wrong, is nullopt and left to yaml-cpp.
std::optional<YamlDocument> parse_plain_yaml(std::string_view text);

}  // namespace kernbench::topology
