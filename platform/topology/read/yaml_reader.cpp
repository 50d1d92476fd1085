// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/read/yaml_reader.h"

#include "kernbench/phase2/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kernbench::topology {
namespace {

constexpr size_t kMostKeys = 2000;  // no topology's mapping has more; keys are searched linearly

bool is_plain_scalar(YamlNode n) {
  return n.is_scalar() && !n.is_quoted();
}

/// The whole text as a double, including infinities and NaN in YAML's and C's spellings.
std::optional<double> to_double(std::string_view t) {
  if (!t.empty() && t[0] == '+') t.remove_prefix(1);
  const bool negative = !t.empty() && t[0] == '-';
  const std::string_view body = t.substr(negative ? 1 : 0);
  if (body == ".inf" || body == ".Inf" || body == ".INF") return negative ? -HUGE_VAL : HUGE_VAL;
  if (body == ".nan" || body == ".NaN" || body == ".NAN") return std::nan("");
  double v = 0;
  const auto r = std::from_chars(t.data(), t.data() + t.size(), v);
  if (r.ptr != t.data() + t.size() || t.empty()) return std::nullopt;
  if (r.ec == std::errc::result_out_of_range) return HUGE_VAL;
  return r.ec == std::errc() ? std::optional<double>(v) : std::nullopt;
}

enum class Parsed { ok, no_integer, negative, too_big };

Parsed to_unsigned(std::string_view t, uint64_t& v) {
  int base = 10;
  const bool negative = !t.empty() && t[0] == '-';
  if (!t.empty() && (t[0] == '+' || t[0] == '-')) t.remove_prefix(1);
  if (t.size() > 2 && t[0] == '0' && (t[1] == 'x' || t[1] == 'X')) {
    base = 16;
    t.remove_prefix(2);
  }
  const auto r = std::from_chars(t.data(), t.data() + t.size(), v, base);
  if (t.empty() || r.ptr != t.data() + t.size()) return Parsed::no_integer;
  if (negative && (v != 0 || r.ec != std::errc())) return Parsed::negative;
  return r.ec == std::errc() ? Parsed::ok : Parsed::too_big;
}

}  // namespace

std::string NumberRule::to_string() const {
  std::string text = "a number";
  if (min > -1e15) text += std::string(min_exclusive ? " > " : " >= ") + number_text(min);
  if (max < 1e15) text += std::string(min > -1e15 ? " and" : "") + " <= " + number_text(max);
  if (*unit) text += std::string(" (") + unit + ")";
  return text;
}

std::string describe(YamlNode n) {
  if (!n.is_defined() || n.is_null()) return "nothing";
  if (n.is_map()) return "a mapping";
  if (n.is_list()) return "a list";
  return "'" + cut(std::string(n.text())) + "'";
}

std::optional<double> read_number(YamlNode n, const std::string& field, const NumberRule& rule, FaultList& faults) {
  const auto v = is_plain_scalar(n) ? to_double(n.text()) : std::nullopt;
  const bool inside = v && std::isfinite(*v) && *v <= rule.max && (rule.min_exclusive ? *v > rule.min : *v >= rule.min);
  if (inside) return v;
  faults.add(n.line(), field, "found " + describe(n) + "; legal: " + rule.to_string());
  return std::nullopt;
}

std::optional<uint64_t> read_unsigned(YamlNode n, const std::string& field, uint64_t min, uint64_t max,
                                      FaultList& faults) {
  uint64_t v = 0;
  const Parsed p = is_plain_scalar(n) ? to_unsigned(n.text(), v) : Parsed::no_integer;
  if (p == Parsed::ok && v >= min && v <= max) return v;
  faults.add(n.line(), field, fmt::format("found {}; legal: an integer from {} to {}", describe(n), min, max));
  return std::nullopt;
}

std::optional<bool> read_boolean(YamlNode n, const std::string& field, FaultList& faults) {
  if (is_plain_scalar(n)) {
    const std::string_view s = n.text();
    if (s == "true" || s == "True" || s == "TRUE") return true;
    if (s == "false" || s == "False" || s == "FALSE") return false;
  }
  faults.add(n.line(), field, "found " + describe(n) + "; legal: true or false");
  return std::nullopt;
}

std::optional<std::string> read_string(YamlNode n, const std::string& field, FaultList& faults) {
  if (n.is_scalar() && !n.text().empty()) return std::string(n.text());
  faults.add(n.line(), field, "found " + describe(n) + "; legal: a text");
  return std::nullopt;
}

YamlMap::YamlMap(YamlNode node, std::string path, FaultList& faults)
    : faults_(faults), path_(std::move(path)), line_(node.line()), valid_(node.is_defined() && node.is_map()) {
  if (!node.is_defined()) return;
  if (!valid_) {
    faults_.add(line_, path_, "found " + describe(node) + "; legal: a mapping");
    return;
  }
  if (node.size() > kMostKeys) {
    faults_.add(line_, path_, fmt::format("found {} keys; legal: a few", node.size()));
    valid_ = false;
    return;
  }
  entries_.reserve(node.size());
  asked_.reserve(8);
  for (const auto& kv : node) {
    if (!kv.key.is_scalar()) {
      faults_.add(kv.key.line(), path_, "found " + describe(kv.key) + " as a key; legal: a word");
      continue;
    }
    const std::string key(kv.key.text());
    if (has(key)) {
      faults_.add(kv.key.line(), field(cut(key)),
                  fmt::format("found twice, first on line {}; legal: once", line_of_key(key)));
      continue;
    }
    entries_.emplace_back(key, kv.value);
  }
  read_.resize(entries_.size());
}

bool YamlMap::has(const std::string& key) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == key; });
}

YamlNode YamlMap::take(const std::string& key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first != key) continue;
    read_[i] = true;
    return entries_[i].second;
  }
  return YamlNode();
}

YamlNode YamlMap::require(const std::string& key, const std::string& legal) {
  YamlNode n = take(key);
  if (!n.is_defined() && valid_) faults_.add(line_, field(key), "missing; legal: " + legal);
  return n;
}

int YamlMap::line_of_key(const std::string& key) const {
  for (const auto& e : entries_) {
    if (e.first == key && e.second.line() > 0) return e.second.line();
  }
  return line_;
}

std::optional<double> YamlMap::number(const std::string& key, const NumberRule& rule) {
  const YamlNode n = take(key);
  return n.is_defined() ? read_number(n, field(key), rule, faults_) : std::nullopt;
}

double YamlMap::number_or(const std::string& key, double fallback, const NumberRule& rule) {
  return number(key, rule).value_or(fallback);
}

std::optional<double> YamlMap::require_number(const std::string& key, const NumberRule& rule) {
  const YamlNode n = has(key) ? take(key) : require(key, rule.to_string());
  return n.is_defined() ? read_number(n, field(key), rule, faults_) : std::nullopt;
}

std::optional<uint64_t> YamlMap::unsigned_number(const std::string& key, uint64_t min, uint64_t max) {
  const YamlNode n = take(key);
  return n.is_defined() ? read_unsigned(n, field(key), min, max, faults_) : std::nullopt;
}

uint64_t YamlMap::unsigned_or(const std::string& key, uint64_t fallback, uint64_t min, uint64_t max) {
  return unsigned_number(key, min, max).value_or(fallback);
}

std::optional<uint64_t> YamlMap::require_unsigned(const std::string& key, uint64_t min, uint64_t max) {
  const YamlNode n = has(key) ? take(key) : require(key, fmt::format("an integer from {} to {}", min, max));
  return n.is_defined() ? read_unsigned(n, field(key), min, max, faults_) : std::nullopt;
}

std::optional<bool> YamlMap::boolean(const std::string& key) {
  const YamlNode n = take(key);
  return n.is_defined() ? read_boolean(n, field(key), faults_) : std::nullopt;
}

std::optional<std::string> YamlMap::string(const std::string& key) {
  const YamlNode n = take(key);
  return n.is_defined() ? read_string(n, field(key), faults_) : std::nullopt;
}

std::optional<std::string> YamlMap::require_string(const std::string& key, const std::string& legal) {
  const YamlNode n = require(key, legal);
  return n.is_defined() ? read_string(n, field(key), faults_) : std::nullopt;
}

std::optional<size_t> YamlMap::choice(const std::string& key, const std::vector<std::string>& choices) {
  const YamlNode n = take(key);
  if (!n.is_defined()) return std::nullopt;
  if (n.is_scalar()) {
    const auto it = std::find(choices.begin(), choices.end(), n.text());
    if (it != choices.end()) return static_cast<size_t>(it - choices.begin());
  }
  faults_.add(n.line(), field(key), "found " + describe(n) + "; legal: " + joined(choices));
  return std::nullopt;
}

std::optional<std::pair<double, double>> YamlMap::pair(const std::string& key, const NumberRule& rule) {
  const YamlNode n = take(key);
  if (!n.is_defined()) return std::nullopt;
  if (!n.is_list() || n.size() != 2) {
    faults_.add(n.line(), field(key), "found " + describe(n) + "; legal: a list of two, each " + rule.to_string());
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
    faults_.add(line_of_key(key), field(cut(key)),
                "unknown key" + did_you_mean(key, asked_) + " legal: " + joined(asked_));
  }
}

}  // namespace kernbench::topology
