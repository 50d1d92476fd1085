#include "kernbench/platform/topology/read/yaml_tree.h"

#include <fmt/format.h>

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <vector>

#include "kernbench/phase2/text/text_stream.h"

namespace kernbench::topology {
namespace {

/// Makes values of the parser's events.
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
    YamlNode key = YamlNode();  // read, its value not yet
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

/// Offset of the first byte that no YAML text holds, or npos.
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
  TextInput in(text);
  YAML::Parser parser(in);
  YamlDocument document, second;
  DocumentBuilder builder(document), behind(second);
  const bool any = parser.HandleNextDocument(builder);
  if (!any || !builder.has_content) {
    faults.add(1, "", "found an empty file; legal: a topology (nodes and links, or a hierarchy with cube)");
    return {};
  }
  if (parser.HandleNextDocument(behind)) {
    faults.add(behind.start_line, "", "found a second YAML document, or stray text after the first; legal: one");
    return {};
  }
  return document;
}

}  // namespace

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
    faults.add(e.mark.line + 1, "", "found values nested hundreds of levels deep; legal: a topology");
  } catch (const YAML::Exception& e) {
    faults.add(e.mark.is_null() ? 0 : e.mark.line + 1, "", "found broken YAML: " + e.msg + "; legal: YAML 1.2");
  }
  return {};
}

}  // namespace kernbench::topology
