// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/op.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/text/text_stream.h"

namespace kernbench::onnx {
namespace {

std::vector<OpRow>& table() {
  static std::vector<OpRow> rows;
  return rows;
}

}  // namespace

RegisterOps::RegisterOps(std::vector<OpRow> rows) {
  table().insert(table().end(), rows.begin(), rows.end());
}

const OpRow* find_row(const std::string& domain, const std::string& name, int64_t opset, bool* known) {
  *known = false;
  for (const OpRow& r : table()) {
    if (r.name != name || r.domain != domain) continue;
    *known = true;
    if (!domain.empty() || (opset >= r.since && opset <= r.until)) return &r;
  }
  return nullptr;
}

std::string described(const Node& n) {
  return fmt::format("node {} ({})", in_quotes(n.name), cut(n.domain.empty() ? n.op : n.domain + "." + n.op));
}

bool takes(Takes which, Type t) {
  const bool real = dtype_of(t) && is_float(*dtype_of(t)), boolean = t == Type::boolean;
  switch (which) {
    case Takes::any:
      return true;
    case Takes::numbers:
      return !boolean;
    case Takes::floats:
      return real;
    case Takes::integers:
      return !real && !boolean;
    case Takes::indices:
      return t == Type::int32 || t == Type::int64;
    case Takes::booleans:
      return boolean;
  }
  return false;
}

const Value& Op::in(size_t i) const {
  if (!has(i)) refuse("input " + std::to_string(i) + " is missing");
  return *inputs[i];
}

const Value& Op::out(size_t i) const {
  if (!has_output(i)) refuse("output " + std::to_string(i) + " is left out");
  return *outputs[i];
}

const Attribute& attribute_of(const Node& n, const std::string& name, AttributeType type) {
  const auto it = n.attributes.find(name);
  if (it == n.attributes.end()) throw Refusal("attribute " + name + " is missing");
  if (it->second.type != type && it->second.type != AttributeType::none)
    throw Refusal("attribute " + name + " is " + name_of(it->second.type) + ", expected " + name_of(type));
  return it->second;
}

void check_form(const Node& n, int64_t opset, const std::string& form) {
  TextInput words(form);
  std::string word;
  words >> word;
  const size_t from = word.find(">=");
  size_t most = word == "many" ? SIZE_MAX : std::stoul(word);
  if (from != std::string::npos && opset < std::stoi(word.substr(from + 2))) most = 1;
  if (n.inputs.size() > most)
    throw Refusal(fmt::format("found {} inputs, expected at most {} in opset {}", n.inputs.size(), most, opset));
  std::vector<std::string> legal;
  while (words >> word) {
    const size_t end = word.find('<');
    if (end == std::string::npos || opset < std::stoi(word.substr(end + 1))) legal.push_back(word.substr(0, end));
  }
  for (const auto& [name, a] : n.attributes) {
    if (std::count(legal.begin(), legal.end(), name) > 0 || (name == "consumed_inputs" && opset < 6)) continue;
    throw Refusal(fmt::format("found attribute {}, which it does not have in opset {}{} legal: {}", in_quotes(name),
                              opset, did_you_mean(name, legal), legal.empty() ? "none" : joined(legal)));
  }
}

void check_attribute_types(const Node& n) {
  // ONNX gives each of these attribute names the same type in every op.
  static const std::pair<const char*, AttributeType> kTypes[] = {
      {"alpha", AttributeType::real},
      {"beta", AttributeType::real},
      {"bias", AttributeType::real},
      {"count_include_pad", AttributeType::integer},
      {"detect_negative", AttributeType::integer},
      {"detect_positive", AttributeType::integer},
      {"epsilon", AttributeType::real},
      {"exclusive", AttributeType::integer},
      {"fmod", AttributeType::integer},
      {"gamma", AttributeType::real},
      {"ignore_index", AttributeType::integer},
      {"lambd", AttributeType::real},
      {"largest", AttributeType::integer},
      {"linear_before_reset", AttributeType::integer},
      {"max", AttributeType::real},
      {"min", AttributeType::real},
      {"periodic", AttributeType::integer},
      {"reverse", AttributeType::integer},
      {"select_last_index", AttributeType::integer},
      {"storage_order", AttributeType::integer},
      {"upper", AttributeType::integer},
  };
  for (const auto& [name, type] : kTypes) {
    if (n.attributes.count(name) > 0) attribute_of(n, name, type);
  }
}

int64_t Op::integer(const std::string& name, int64_t fallback) const {
  return given(name) ? integer(name) : fallback;
}

float Op::real(const std::string& name, float fallback) const {
  return given(name) ? attribute(name, AttributeType::real).f : fallback;
}

std::string Op::word(const std::string& name, const std::vector<std::string>& legal,
                     const std::string& fallback) const {
  const std::string found = given(name) ? attribute(name, AttributeType::string).s : fallback;
  if (std::find(legal.begin(), legal.end(), found) == legal.end())
    refuse(fmt::format("found {} {}{} legal: {}", name, in_quotes(found), did_you_mean(found, legal), joined(legal)));
  return found;
}

std::vector<int64_t> Op::ints(const std::string& name, std::vector<int64_t> fallback) const {
  return given(name) ? attribute(name, AttributeType::integers).ints : std::move(fallback);
}

int64_t Op::axis(int64_t a, int64_t of_rank) const {
  if (a < -of_rank || a >= of_rank) refuse("found axis " + std::to_string(a) + " of rank " + std::to_string(of_rank));
  return a < 0 ? a + of_rank : a;
}

std::vector<int64_t> Op::values(size_t i) const {
  if (takes(Takes::floats, in(i).type))
    refuse(fmt::format("input {} is of {}, expected integers", i, name_of(in(i).type)));
  return evaluate(*inputs[i])->ints();
}

std::vector<double> Op::reals(size_t i) const {
  in(i);
  return evaluate(*inputs[i])->reals();
}

int64_t Op::value(size_t i) const {
  require_single(i);
  return values(i).front();
}

double Op::real_value(size_t i) const {
  require_single(i);
  return reals(i).front();
}

void Op::require_single(size_t i) const {
  require(in(i).elements() == 1, fmt::format("input {} is of shape {}, expected one element", i, to_string(shape(i))));
}

void Op::require_range(const char* attribute, const Shape& list, int64_t least, int64_t most) const {
  for (const int64_t n : list)
    require(n >= least && n <= most, fmt::format("found {} of {}, expected {} to {}", attribute, n, least, most));
}

void Op::require_small(const std::vector<Shape>& lists) const {
  constexpr int64_t kMost = int64_t{1} << 24;
  for (const Shape& list : lists) require_range("a size", list, -kMost, kMost);
}

void Op::require_type(size_t i, Takes which) const {
  static const char* const kExpected[] = {"any type", "numbers", "floats", "integers", "int32 or int64", "bool"};
  if (!takes(which, in(i).type))
    refuse(
        fmt::format("input {} is of {}, expected {}", i, name_of(in(i).type), kExpected[static_cast<size_t>(which)]));
}

void Op::require_same_types(size_t a, size_t b) const {
  require(in(a).type == in(b).type, "found " + name_of(in(a).type) + " and " + name_of(in(b).type));
}

void Op::require_shape(size_t i, const Shape& expected) const {
  require(shape(i) == expected,
          fmt::format("input {} is of shape {}, expected {}", i, to_string(shape(i)), to_string(expected)));
}

void Op::set_output(size_t i, Type type, Shape shape) {
  if (!has_output(i)) return;
  if (!dtype_of(type)) refuse("its type is " + name_of(type) + ", which Phase 2 does not compute with");
  for (const int64_t d : shape) require(d >= 0, "its shape comes to " + to_string(shape));
  elements_of(shape);
  outputs[i]->type = type;
  outputs[i]->shape = std::move(shape);
}

Shape broadcast(const std::vector<Shape>& shapes) {
  Shape all;
  for (const Shape& s : shapes) {
    if (s.size() > all.size()) all.insert(all.begin(), s.size() - all.size(), 1);
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t& d = all[all.size() - s.size() + i];
      if (d != s[i] && d != 1 && s[i] != 1) throw Refusal("found shapes that do not broadcast, " + to_string(s));
      if (d == 1) d = s[i];
    }
  }
  return all;
}

void like_first(Op& op) {
  op.set_output(0, op.in(0).type, op.shape(0));
}

}  // namespace kernbench::onnx
