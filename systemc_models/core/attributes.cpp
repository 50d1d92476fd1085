// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/attributes.h"

#include "kernbench/phase2/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kernbench::core {

double number_of(const AttrValue& v) {
  if (const double* d = std::get_if<double>(&v)) return *d;
  const int64_t* i = std::get_if<int64_t>(&v);
  return i ? static_cast<double>(*i) : 0;
}

std::string text_of(const NumberMap& map) {
  std::string text;
  for (const auto& [key, value] : map) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  return text;
}

std::string text_of(const AttrValue& v) {
  if (const NumberMap* map = std::get_if<NumberMap>(&v)) return text_of(*map);
  if (const std::string* text = std::get_if<std::string>(&v)) return *text;
  if (const bool* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  return std::holds_alternative<double>(v) ? fmt::format("{}", std::get<double>(v))
                                           : std::to_string(std::get<int64_t>(v));
}

void Attributes::set(std::string name, AttrValue v) {
  for (auto& item : items_) {
    if (item.first == name) {
      item.second = std::move(v);
      return;
    }
  }
  items_.emplace_back(std::move(name), std::move(v));
}

const AttrValue* Attributes::find(const std::string& name) const {
  for (const auto& item : items_) {
    if (item.first == name) return &item.second;
  }
  return nullptr;
}

double Attributes::number(const std::string& name, double fallback) const {
  const AttrValue* v = find(name);
  return v ? number_of(*v) : fallback;
}

int64_t Attributes::integer(const std::string& name, int64_t fallback) const {
  const AttrValue* v = find(name);
  if (!v) return fallback;
  if (const int64_t* i = std::get_if<int64_t>(v)) return *i;
  if (const double* d = std::get_if<double>(v)) return static_cast<int64_t>(*d);
  return fallback;
}

bool Attributes::boolean(const std::string& name, bool fallback) const {
  const AttrValue* v = find(name);
  const bool* b = v ? std::get_if<bool>(v) : nullptr;
  return b ? *b : fallback;
}

std::string Attributes::string(const std::string& name, const std::string& fallback) const {
  const AttrValue* v = find(name);
  const std::string* s = v ? std::get_if<std::string>(v) : nullptr;
  return s ? *s : fallback;
}

const NumberMap* Attributes::map(const std::string& name) const {
  const AttrValue* v = find(name);
  return v ? std::get_if<NumberMap>(v) : nullptr;
}

namespace {

void check_number(const AttrSpec& spec, double v) {
  const bool low = spec.min_exclusive ? !(v > spec.min) : !(v >= spec.min);
  if (!low && v <= spec.max) return;
  throw std::invalid_argument(fmt::format("{}: found {}, expected {}{}{}", spec.name, v,
                                          !low                 ? "at most "
                                          : spec.min_exclusive ? "more than "
                                                               : "at least ",
                                          low ? spec.min : spec.max, spec.unit.empty() ? "" : " " + spec.unit));
}

void check_choice(const AttrSpec& spec, const std::string& text) {
  if (spec.is_legal(text)) return;
  throw std::invalid_argument(spec.name + ": found '" + text + "', expected " + joined(spec.legal_texts()));
}

}  // namespace

std::optional<double> KnownKey::in(const NumberMap& map) const {
  for (const std::string* key : {&name, &as}) {
    if (const auto it = map.find(*key); it != map.end()) return it->second;
  }
  return std::nullopt;
}

std::string_view name_of(Direction d) {
  constexpr std::string_view kNames[] = {"rate", "latency", "depth", "count", "flag", "choice"};
  return kNames[static_cast<size_t>(d)];
}

std::string_view name_of(CostClass c) {
  constexpr std::string_view kNames[] = {"free", "room", "hardware"};
  return kNames[static_cast<size_t>(c)];
}

CostClass AttrSpec::cost_class() const {
  if (cost) return *cost;
  if (type == AttrType::string || type == AttrType::boolean) return CostClass::free;
  return direction == Direction::depth ? CostClass::room : CostClass::hardware;
}

std::vector<std::string> AttrSpec::legal_texts() const {
  return registry && !other_texts ? registry->names() : choices;
}

bool AttrSpec::is_legal(const std::string& text) const {
  const std::vector<std::string> legal = legal_texts();
  return legal.empty() || std::find(legal.begin(), legal.end(), text) != legal.end();
}

void check_value(const AttrSpec& spec, const AttrValue& value) {
  if (const double* number = std::get_if<double>(&value)) {
    check_number(spec, *number);
  } else if (const int64_t* whole = std::get_if<int64_t>(&value)) {
    check_number(spec, static_cast<double>(*whole));
    if (spec.power_of_two && (*whole <= 0 || (*whole & (*whole - 1)) != 0))
      throw std::invalid_argument(spec.name + ": found " + std::to_string(*whole) + ", expected a power of two");
    if (*whole % static_cast<int64_t>(spec.multiple_of) != 0)
      throw std::invalid_argument(spec.name + ": found " + std::to_string(*whole) + ", expected a multiple of " +
                                  std::to_string(spec.multiple_of));
  } else if (const std::string* text = std::get_if<std::string>(&value)) {
    check_choice(spec, *text);
  } else if (const NumberMap* map = std::get_if<NumberMap>(&value)) {
    for (const auto& [key, v] : *map) {
      check_choice(spec, key);
      check_number(spec, v);
    }
  }
}

}  // namespace kernbench::core
