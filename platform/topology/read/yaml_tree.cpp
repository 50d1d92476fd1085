// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/read/yaml_tree.h"

#include <fmt/format.h>

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/topology/read/yaml_scanner.h"

namespace kernbench::topology {
namespace {

/// Builds values from the parser's events.
class DocumentBuilder : public YAML::EventHandler {
 public:
  explicit DocumentBuilder(YamlDocument& document) : document_(document) {}

  int start_line = 0;
  bool has_content = false;

  void OnDocumentStart(const YAML::Mark& m) override { start_line = m.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& m, YAML::anchor_t anchor) override { put(add(Kind::null, m, anchor)); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t anchor) override {
    has_content = true;
    if (anchor < anchored_.size() && anchored_[anchor]) put(*anchored_[anchor]);
  }
  void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    YamlValue& value = add(Kind::scalar, m, anchor);
    value.quoted = tag == "!";
    value.text = text;
    put(value);
  }
  void OnSequenceStart(const YAML::Mark& m, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back({&add(Kind::list, m, anchor)});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& m, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open_.push_back({&add(Kind::map, m, anchor)});
  }
  void OnMapEnd() override { close(); }

 private:
  using Kind = YamlValue::Kind;
  struct Open {
    YamlValue* value;
    YamlNode key = YamlNode();  // its value is not read yet
  };

  YamlValue& add(Kind kind, const YAML::Mark& m, YAML::anchor_t anchor) {
    has_content = has_content || kind != Kind::null;
    YamlValue& value = document_.values.emplace_back();
    value.kind = kind;
    value.line = m.is_null() ? 0 : m.line + 1;
    if (anchor > 0) {
      if (anchored_.size() <= anchor) anchored_.resize(anchor + 1);
      anchored_[anchor] = &value;
    }
    return value;
  }

  void put(const YamlValue& value) {
    const YamlNode node(&value);
    if (open_.empty()) {
      document_.root = node;
    } else if (Open& around = open_.back(); around.value->kind == Kind::list) {
      around.value->items.push_back({YamlNode(), node});
    } else if (!around.key.is_defined()) {
      around.key = node;
    } else {
      around.value->items.push_back({around.key, node});
      around.key = YamlNode();
    }
  }

  void close() {
    const YamlValue& value = *open_.back().value;
    open_.pop_back();
    put(value);
  }

  YamlDocument& document_;
  std::vector<Open> open_;
  std::vector<YamlValue*> anchored_;
};

/// Offset of the first byte that is illegal in YAML, or npos.
size_t first_binary_byte(const std::string& s) {
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    size_t more = 0;
    if (c < 0x80) {
      if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) return i;
    } else if (c >= 0xc2 && c < 0xe0) {
      more = 1;
    } else if (c >= 0xe0 && c < 0xf0) {
      more = 2;
    } else if (c >= 0xf0 && c < 0xf5) {
      more = 3;
    } else {
      return i;
    }
    for (size_t k = 1; k <= more; ++k) {
      if (i + k >= s.size() || (static_cast<unsigned char>(s[i + k]) & 0xc0) != 0x80) return i;
    }
    i += more + 1;
  }
  return std::string::npos;
}

/// Throws YAML::Exception.
YamlDocument parse(const std::string& text, FaultList& faults) {
  YamlDocument simple;
  DocumentBuilder quick(simple);
  if (scan_simple_yaml(text, quick)) return simple;
  TextInput in(text);
  YAML::Parser parser(in);
  YamlDocument document, second;
  DocumentBuilder builder(document), behind(second);
  const bool any = parser.HandleNextDocument(builder);
  if (!any || !builder.has_content) {
    faults.add(1, "", "found an empty file; legal: YAML with values");
    return {};
  }
  if (parser.HandleNextDocument(behind)) {
    faults.add(behind.start_line, "", "found a second YAML document, or stray text after the first; legal: one");
    return {};
  }
  return document;
}

/// A text that counts lines while it is read.
struct CountedText {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  const char* at;
  int* line;  ///< line of the last byte, from 1

  reference operator*() const { return *at; }
  CountedText& operator++() {
    *line += at[-1] == '\n' ? 1 : 0;
    ++at;
    return *this;
  }
  bool operator==(const CountedText& other) const { return at == other.at; }
  bool operator!=(const CountedText& other) const { return at != other.at; }
};

/// Forwards JSON values as the events of equal YAML.
class JsonEvents : public nlohmann::json::json_sax_t {
 public:
  JsonEvents(const int& line, DocumentBuilder& builder, FaultList& faults)
      : line_(line), builder_(builder), faults_(faults) {}

  bool null() override { return builder_.OnNull(mark(), 0), true; }
  bool boolean(bool v) override { return scalar(v ? "true" : "false", "?"); }
  bool number_integer(number_integer_t v) override { return scalar(std::to_string(v), "?"); }
  bool number_unsigned(number_unsigned_t v) override { return scalar(std::to_string(v), "?"); }
  bool number_float(number_float_t, const string_t& text) override { return scalar(text, "?"); }
  bool string(string_t& text) override { return scalar(text, "!"); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override {
    keys_.emplace_back();
    return builder_.OnMapStart(mark(), "?", 0, YAML::EmitterStyle::Flow), true;
  }
  bool key(string_t& text) override {
    if (keys_.back().insert(text).second) return scalar(text, "!");
    faults_.add(line_, "", "key " + in_quotes(text) + " stands twice in an object");
    return false;
  }
  bool end_object() override {
    keys_.pop_back();
    return builder_.OnMapEnd(), true;
  }
  bool start_array(size_t) override { return builder_.OnSequenceStart(mark(), "?", 0, YAML::EmitterStyle::Flow), true; }
  bool end_array() override { return builder_.OnSequenceEnd(), true; }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& e) override {
    faults_.add(line_, "", "not JSON: " + json_reason(e));
    return false;
  }

 private:
  YAML::Mark mark() const {
    YAML::Mark m;
    m.line = line_ - 1;
    return m;
  }
  bool scalar(const std::string& text, const char* tag) { return builder_.OnScalar(mark(), tag, 0, text), true; }

  const int& line_;
  DocumentBuilder& builder_;
  FaultList& faults_;
  std::vector<std::set<std::string>> keys_;  // of the enclosing objects
};

bool ends_in_json(const std::string& name) {
  return name.size() > 5 && name.compare(name.size() - 5, 5, ".json") == 0;
}

}  // namespace

YamlDocument parse_document(const std::string& text, FaultList& faults) {
  if (!ends_in_json(faults.file())) return parse_yaml(text, faults);
  YamlDocument document;
  DocumentBuilder builder(document);
  int line = 1;
  const std::string padded = " " + text;  // so that each byte has a predecessor
  JsonEvents events(line, builder, faults);
  try {
    check_json_text(text);
    const char* begin = padded.data() + 1;
    nlohmann::json::sax_parse(CountedText{begin, &line}, CountedText{begin + text.size(), &line}, &events);
  } catch (const JsonFault& e) {
    faults.add(0, "", e.what());
  }
  return faults.empty() ? std::move(document) : YamlDocument{};
}

YamlDocument parse_yaml(const std::string& text, FaultList& faults) {
  if (text.size() > kLongestText) {
    faults.add(0, "", fmt::format("found more than {} bytes; legal: at most that", kLongestText));
    return {};
  }
  const size_t bad = first_binary_byte(text);
  if (bad != std::string::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    faults.add(static_cast<int>(line), "",
               fmt::format("found byte {} at offset {}: this is no text; legal: YAML in UTF-8",
                           static_cast<unsigned char>(text[bad]), bad));
    return {};
  }
  try {
    return parse(text, faults);
  } catch (const YAML::DeepRecursion& e) {
    faults.add(e.mark.line + 1, "", "found values nested hundreds of levels deep; legal: fewer");
  } catch (const YAML::Exception& e) {
    faults.add(e.mark.is_null() ? 0 : e.mark.line + 1, "", "found broken YAML: " + e.msg + "; legal: YAML 1.2");
  }
  return {};
}

}  // namespace kernbench::topology
