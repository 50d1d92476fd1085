#include "kernbench/platform/topology/yaml_reader.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>

namespace kernbench::topology {
namespace {

constexpr size_t kMostKeys = 2000;  // no mapping of a topology has more; keys are searched one by one

bool is_plain_scalar(const YAML::Node& n) {
  return n.IsScalar() && n.Tag() != "!";
}

/// The whole text as a double; infinities and NaN in YAML's and C's spellings included.
std::optional<double> to_double(const std::string& text) {
  std::string t = text;
  if (!t.empty() && t[0] == '+') t.erase(0, 1);
  const std::string sign = !t.empty() && t[0] == '-' ? "-" : "";
  const std::string body = t.substr(sign.size());
  if (body == ".inf" || body == ".Inf" || body == ".INF") return sign.empty() ? HUGE_VAL : -HUGE_VAL;
  if (body == ".nan" || body == ".NaN" || body == ".NAN") return std::nan("");
  double v = 0;
  const auto r = std::from_chars(t.data(), t.data() + t.size(), v);
  if (r.ptr != t.data() + t.size() || t.empty()) return std::nullopt;
  if (r.ec == std::errc::result_out_of_range) return HUGE_VAL;
  return r.ec == std::errc() ? std::optional<double>(v) : std::nullopt;
}

enum class Parsed { ok, no_integer, negative, too_big };

Parsed to_unsigned(const std::string& text, uint64_t& v) {
  std::string t = text;
  int base = 10;
  const bool negative = !t.empty() && t[0] == '-';
  if (!t.empty() && (t[0] == '+' || t[0] == '-')) t.erase(0, 1);
  if (t.size() > 2 && t[0] == '0' && (t[1] == 'x' || t[1] == 'X')) {
    base = 16;
    t.erase(0, 2);
  }
  const auto r = std::from_chars(t.data(), t.data() + t.size(), v, base);
  if (t.empty() || r.ptr != t.data() + t.size()) return Parsed::no_integer;
  if (negative && (v != 0 || r.ec != std::errc())) return Parsed::negative;
  return r.ec == std::errc() ? Parsed::ok : Parsed::too_big;
}

/// Hears a document without keeping it.
class DocumentListener : public YAML::EventHandler {
 public:
  int start_line = 0;
  bool has_content = false;

  void OnDocumentStart(const YAML::Mark& m) override { start_line = m.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { has_content = true; }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {
    has_content = true;
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    has_content = true;
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    has_content = true;
  }
  void OnMapEnd() override {}
};

/// The text with an empty line for every list entry but the first that is one plain flow map, "- {id: r0, kind:
/// router}": such a line cannot end a document, and in flat files of large systems nearly all lines are of this form.
std::string without_plain_entries(const std::string& text) {
  std::string kept;
  bool first = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    size_t i = text.find_first_not_of(' ', at);
    bool plain = i < end && text.compare(i, 3, "- {") == 0 && text[end - 1] == '}';
    int open = 0;
    for (i += 2; plain && i < end; ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      open += (c == '{') - (c == '}');
      plain = open > (i + 1 < end ? 0 : -1) &&
              (std::isalnum(c) || c == '{' || c == '}' || std::strchr(" ,:._-", static_cast<int>(c)));
    }
    plain = plain && open == 0;
    if (!plain || first) kept.append(text, at, end - at);
    first = first && !plain;
    kept += '\n';
    at = end + 1;
  }
  return kept;
}

/// A pass without building anything. YAML::Load would drop what stands behind the first document in silence, and
/// YAML::LoadAll never returns where that is a stray comma or bracket.
bool is_one_document(const std::string& text, FaultList& faults) {
  std::istringstream in(without_plain_entries(text));
  YAML::Parser parser(in);
  DocumentListener first, second;
  const bool any = parser.HandleNextDocument(first);
  if (any && parser.HandleNextDocument(second)) {
    faults.add(second.start_line, "", "found a second YAML document, or stray text behind the first; legal: one");
    return false;
  }
  if (!any || !first.has_content) {
    faults.add(1, "", "found an empty file; legal: a topology (nodes and links, or a hierarchy with cube)");
    return false;
  }
  return true;
}

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

}  // namespace

std::string NumberRule::to_string() const {
  std::string text = "a number";
  if (min > -1e15) text += std::string(min_exclusive ? " > " : " >= ") + number_text(min);
  if (max < 1e15) text += std::string(min > -1e15 ? " and" : "") + " <= " + number_text(max);
  if (*unit) text += std::string(" (") + unit + ")";
  return text;
}

int line_of(const YAML::Node& n) {
  if (!n.IsDefined()) return 0;
  const YAML::Mark m = n.Mark();
  return m.is_null() ? 0 : m.line + 1;
}

std::string describe(const YAML::Node& n) {
  if (!n.IsDefined() || n.IsNull()) return "nothing";
  if (n.IsMap()) return "a mapping";
  if (n.IsSequence()) return "a list";
  return "'" + printable(n.Scalar()) + "'";
}

std::optional<double> read_number(const YAML::Node& n, const std::string& field, const NumberRule& rule,
                                  FaultList& faults) {
  const auto v = is_plain_scalar(n) ? to_double(n.Scalar()) : std::nullopt;
  const bool inside = v && std::isfinite(*v) && *v <= rule.max && (rule.min_exclusive ? *v > rule.min : *v >= rule.min);
  if (inside) return v;
  faults.add(line_of(n), field, "found " + describe(n) + "; legal: " + rule.to_string());
  return std::nullopt;
}

std::optional<uint64_t> read_unsigned(const YAML::Node& n, const std::string& field, uint64_t min, uint64_t max,
                                      FaultList& faults) {
  uint64_t v = 0;
  const Parsed p = is_plain_scalar(n) ? to_unsigned(n.Scalar(), v) : Parsed::no_integer;
  if (p == Parsed::ok && v >= min && v <= max) return v;
  faults.add(line_of(n), field,
             "found " + describe(n) + "; legal: an integer from " + std::to_string(min) + " to " + std::to_string(max));
  return std::nullopt;
}

std::optional<bool> read_boolean(const YAML::Node& n, const std::string& field, FaultList& faults) {
  if (is_plain_scalar(n)) {
    const std::string& s = n.Scalar();
    if (s == "true" || s == "True" || s == "TRUE") return true;
    if (s == "false" || s == "False" || s == "FALSE") return false;
  }
  faults.add(line_of(n), field, "found " + describe(n) + "; legal: true or false");
  return std::nullopt;
}

std::optional<std::string> read_string(const YAML::Node& n, const std::string& field, FaultList& faults) {
  if (n.IsScalar() && !n.Scalar().empty()) return n.Scalar();
  faults.add(line_of(n), field, "found " + describe(n) + "; legal: a text");
  return std::nullopt;
}

YamlMap::YamlMap(const YAML::Node& node, std::string path, FaultList& faults)
    : faults_(faults), path_(std::move(path)), line_(line_of(node)), valid_(node.IsDefined() && node.IsMap()) {
  if (!node.IsDefined()) return;
  if (!valid_) {
    faults_.add(line_, path_, "found " + describe(node) + "; legal: a mapping");
    return;
  }
  if (node.size() > kMostKeys) {
    faults_.add(line_, path_, "found " + std::to_string(node.size()) + " keys; legal: a few");
    valid_ = false;
    return;
  }
  for (const auto& kv : node) {
    if (!kv.first.IsScalar()) {
      faults_.add(line_of(kv.first), path_, "found " + describe(kv.first) + " as a key; legal: a word");
      continue;
    }
    const std::string& key = kv.first.Scalar();
    if (has(key)) {
      faults_.add(line_of(kv.first), field(printable(key)),
                  "found twice, first on line " + std::to_string(line_of_key(key)) + "; legal: once");
      continue;
    }
    entries_.emplace_back(key, kv.second);
  }
  read_.resize(entries_.size());
}

bool YamlMap::has(const std::string& key) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == key; });
}

YAML::Node YamlMap::take(const std::string& key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first != key) continue;
    read_[i] = true;
    return entries_[i].second;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

YAML::Node YamlMap::require(const std::string& key, const std::string& legal) {
  YAML::Node n = take(key);
  if (!n.IsDefined() && valid_) faults_.add(line_, field(key), "missing; legal: " + legal);
  return n;
}

int YamlMap::line_of_key(const std::string& key) const {
  for (const auto& e : entries_) {
    if (e.first == key && line_of(e.second) > 0) return line_of(e.second);
  }
  return line_;
}

std::optional<double> YamlMap::number(const std::string& key, const NumberRule& rule) {
  const YAML::Node n = take(key);
  return n.IsDefined() ? read_number(n, field(key), rule, faults_) : std::nullopt;
}

double YamlMap::number_or(const std::string& key, double fallback, const NumberRule& rule) {
  return number(key, rule).value_or(fallback);
}

std::optional<double> YamlMap::require_number(const std::string& key, const NumberRule& rule) {
  const YAML::Node n = require(key, rule.to_string());
  return n.IsDefined() ? read_number(n, field(key), rule, faults_) : std::nullopt;
}

std::optional<uint64_t> YamlMap::unsigned_number(const std::string& key, uint64_t min, uint64_t max) {
  const YAML::Node n = take(key);
  return n.IsDefined() ? read_unsigned(n, field(key), min, max, faults_) : std::nullopt;
}

uint64_t YamlMap::unsigned_or(const std::string& key, uint64_t fallback, uint64_t min, uint64_t max) {
  return unsigned_number(key, min, max).value_or(fallback);
}

std::optional<uint64_t> YamlMap::require_unsigned(const std::string& key, uint64_t min, uint64_t max) {
  const YAML::Node n = require(key, "an integer from " + std::to_string(min) + " to " + std::to_string(max));
  return n.IsDefined() ? read_unsigned(n, field(key), min, max, faults_) : std::nullopt;
}

std::optional<bool> YamlMap::boolean(const std::string& key) {
  const YAML::Node n = take(key);
  return n.IsDefined() ? read_boolean(n, field(key), faults_) : std::nullopt;
}

std::optional<std::string> YamlMap::string(const std::string& key) {
  const YAML::Node n = take(key);
  return n.IsDefined() ? read_string(n, field(key), faults_) : std::nullopt;
}

std::optional<std::string> YamlMap::require_string(const std::string& key, const std::string& legal) {
  const YAML::Node n = require(key, legal);
  return n.IsDefined() ? read_string(n, field(key), faults_) : std::nullopt;
}

std::optional<size_t> YamlMap::choice(const std::string& key, const std::vector<std::string>& choices) {
  const YAML::Node n = take(key);
  if (!n.IsDefined()) return std::nullopt;
  if (n.IsScalar()) {
    const auto it = std::find(choices.begin(), choices.end(), n.Scalar());
    if (it != choices.end()) return static_cast<size_t>(it - choices.begin());
  }
  faults_.add(line_of(n), field(key), "found " + describe(n) + "; legal: " + join(choices));
  return std::nullopt;
}

std::optional<std::pair<double, double>> YamlMap::pair(const std::string& key, const NumberRule& rule) {
  const YAML::Node n = take(key);
  if (!n.IsDefined()) return std::nullopt;
  if (!n.IsSequence() || n.size() != 2) {
    faults_.add(line_of(n), field(key), "found " + describe(n) + "; legal: a list of two, each " + rule.to_string());
    return std::nullopt;
  }
  const auto a = read_number(n[0], field(key) + "[0]", rule, faults_);
  const auto b = read_number(n[1], field(key) + "[1]", rule, faults_);
  if (!a || !b) return std::nullopt;
  return std::make_pair(*a, *b);
}

void YamlMap::finish() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (read_[i]) continue;
    const std::string& key = entries_[i].first;
    const std::string near = nearest_word(key, asked_);
    const std::string hint = near.empty() ? ";" : ", did you mean '" + near + "'?";
    faults_.add(line_of_key(key), field(printable(key)), "unknown key" + hint + " legal: " + join(asked_));
  }
}

YAML::Node parse_yaml(const std::string& text, FaultList& faults) {
  const YAML::Node none(YAML::NodeType::Undefined);
  if (text.size() > kLongestText) {
    faults.add(0, "", "found more than " + std::to_string(kLongestText) + " bytes; legal: at most that");
    return none;
  }
  const size_t bad = first_binary_byte(text);
  if (bad != std::string::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    faults.add(static_cast<int>(line), "",
               "found byte " + std::to_string(static_cast<unsigned char>(text[bad])) + " at offset " +
                   std::to_string(bad) + ": this is no text; legal: YAML in UTF-8");
    return none;
  }
  try {
    if (!is_one_document(text, faults)) return none;
    return YAML::Load(text);
  } catch (const YAML::DeepRecursion& e) {
    faults.add(e.mark.line + 1, "", "found values nested hundreds of levels deep; legal: a topology");
  } catch (const YAML::Exception& e) {
    faults.add(e.mark.is_null() ? 0 : e.mark.line + 1, "", "found broken YAML: " + e.msg + "; legal: YAML 1.2");
  }
  return none;
}

}  // namespace kernbench::topology
