#include <algorithm>
#include <cctype>

#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::topology {
namespace {

constexpr int kDeepest = 40;           // nested values; yaml-cpp, too, has a limit
constexpr size_t kLongestWord = 1000;  // yaml-cpp takes keys up to 1,024 bytes

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

/// Length of the word at the start of the text: letters, digits and _ . - + within, but no sign of YAML's at its start.
size_t word_length(std::string_view text) {
  if (text.empty()) return 0;
  const bool sign = text[0] == '-' || text[0] == '+' || text[0] == '.';
  if (sign ? text.size() < 2 || !is_alnum(text[1]) : !is_alnum(text[0]) && text[0] != '_') return 0;
  size_t n = 1;
  while (n < text.size() && (is_alnum(text[n]) || text[n] == '_' || text[n] == '.' || text[n] == '-' || text[n] == '+'))
    ++n;
  return n > kLongestWord ? 0 : n;
}

/// Reads with one line in view: its indent, and what of it is still to be read. Every function gives null where the
/// text leaves the plain part of YAML.
class PlainReader {
 public:
  PlainReader(std::string_view text, YamlDocument& document) : text_(text), document_(document) { next_line(); }

  bool read() {
    if (done_ || indent_ != 0) return false;
    const YamlValue* root = read_block(0, 0);
    if (!root || !done_) return false;
    document_.set_root(*root);
    return true;
  }

 private:
  using Kind = YamlValue::Kind;

  /// The next line that is neither empty nor only a comment.
  void next_line() {
    rest_ = {};
    while (rest_.empty() && at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      const size_t first = std::min(text_.find_first_not_of(' ', at_), end);
      ++line_;
      indent_ = first - at_;
      if (first < end && text_[first] != '#') rest_ = text_.substr(first, end - first);
      at_ = end + 1;
    }
    done_ = rest_.empty();
  }

  /// A value ends with its line; nothing that stands further right may follow.
  bool end_line(size_t indent) {
    if (!rest_.empty()) return false;
    next_line();
    return done_ || indent_ <= indent;
  }

  bool next_line_within(size_t indent) {
    if (!rest_.empty()) return false;
    next_line();
    return !done_ && indent_ > indent;
  }

  bool at_list_item(size_t indent) const {
    return !done_ && indent_ == indent && rest_.size() > 2 && rest_[0] == '-' && rest_[1] == ' ';
  }

  /// The map or list whose first item is in view.
  const YamlValue* read_block(size_t indent, int depth) {
    return at_list_item(indent) ? read_list(indent, false, depth) : read_map(indent, depth);
  }

  /// in_map: the list stands as far left as the key that it belongs to, and other keys may follow.
  const YamlValue* read_list(size_t indent, bool in_map, int depth) {
    if (depth > kDeepest) return nullptr;
    YamlValue& list = document_.add_value(Kind::list, line_);
    while (at_list_item(indent)) {
      rest_.remove_prefix(2);
      indent_ += 2;
      const YamlValue* item = key_length() > 0 ? read_map(indent_, depth + 1) : read_line(indent, depth + 1);
      if (!item) return nullptr;
      document_.append(list, *item);
    }
    return done_ || indent_ < indent || (in_map && indent_ == indent) ? &list : nullptr;
  }

  const YamlValue* read_map(size_t indent, int depth) {
    if (depth > kDeepest) return nullptr;
    YamlValue& map = document_.add_value(Kind::map, line_);
    while (!done_ && indent_ == indent) {
      const YamlValue* key = read_key();
      const YamlValue* value = key ? read_value_of_key(indent, depth + 1) : nullptr;
      if (!value) return nullptr;
      document_.append(map, *key, *value);
    }
    return done_ || indent_ < indent ? &map : nullptr;
  }

  const YamlValue* read_value_of_key(size_t indent, int depth) {
    if (!rest_.empty()) return rest_[0] == ' ' ? (rest_.remove_prefix(1), read_line(indent, depth)) : nullptr;
    next_line();
    if (at_list_item(indent)) return read_list(indent, true, depth);
    return !done_ && indent_ > indent ? read_block(indent_, depth) : nullptr;
  }

  /// What stands on the rest of a line, in a block of that indent.
  const YamlValue* read_line(size_t indent, int depth) {
    const YamlValue* value = read_flow(indent, depth);
    return value && end_line(indent) ? value : nullptr;
  }

  /// A word, or a map or list in brackets, which may go on behind a comma on a line further right than `indent`.
  const YamlValue* read_flow(size_t indent, int depth) {
    if (rest_.empty() || depth > kDeepest) return nullptr;
    if (rest_[0] != '{' && rest_[0] != '[') return read_word();
    const bool is_map = rest_[0] == '{';
    const char close = is_map ? '}' : ']';
    YamlValue& collection = document_.add_value(is_map ? Kind::map : Kind::list, line_);
    rest_.remove_prefix(1);
    while (!take(close)) {
      if (collection.size > 0 && !(take(',') && (take(' ') || next_line_within(indent)))) return nullptr;
      const YamlValue* key = is_map ? read_key() : nullptr;
      if (is_map && !(key && take(' '))) return nullptr;
      const YamlValue* value = read_flow(indent, depth + 1);
      if (!value) return nullptr;
      if (is_map)
        document_.append(collection, *key, *value);
      else
        document_.append(collection, *value);
    }
    return &collection;
  }

  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Length of the word of the key "word:" in view, 0 if there is none.
  size_t key_length() const {
    const size_t n = word_length(rest_);
    return n > 0 && n < rest_.size() && rest_[n] == ':' ? n : 0;
  }

  const YamlValue* read_key() {
    const YamlValue* key = key_length() > 0 ? read_word() : nullptr;
    return key && key->kind == Kind::scalar && take(':') ? key : nullptr;
  }

  const YamlValue* read_word() {
    const size_t n = word_length(rest_);
    if (n == 0) return nullptr;
    const std::string_view word = rest_.substr(0, n);
    const bool null = word == "null" || word == "Null" || word == "NULL";
    YamlValue& value = document_.add_value(null ? Kind::null : Kind::scalar, line_);
    if (!null) YamlDocument::set_text(value, word);
    rest_.remove_prefix(n);
    return &value;
  }

  std::string_view text_;
  YamlDocument& document_;
  size_t at_ = 0;  // start of the line after the one in view
  int line_ = 0;
  size_t indent_ = 0;
  std::string_view rest_;
  bool done_ = false;
};

}  // namespace

std::optional<YamlDocument> parse_plain_yaml(std::string_view text) {
  YamlDocument document;
  if (!PlainReader(text, document).read()) return std::nullopt;
  return document;
}

}  // namespace kernbench::topology
