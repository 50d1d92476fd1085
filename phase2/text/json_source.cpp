// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/text/json_source.h"

namespace kernbench::phase2 {

bool JsonSource::begin(std::string_view name, const Shown&, Kind kind) {
  if (kind == Kind::made || kind == Kind::made_whole) return false;
  names_.back().clear();
  const auto found = at_.back()->find(name);
  if (found == at_.back()->end()) throw JsonFault(in_quotes(name) + " is missing");
  names_.back() = name;
  next_ = &*found;
  return true;
}

void JsonSource::scalar(const Scalar& s) {
  std::visit(
      [&](auto at) {
        if constexpr (std::is_pointer_v<decltype(at)> && !std::is_same_v<decltype(at), const RawJson*>)
          *at = json_value<std::remove_pointer_t<decltype(at)>>(*next_);
      },
      s);
}

bool JsonSource::is_like(const Scalar& s) {
  const auto& v = *next_;
  return std::holds_alternative<bool*>(s)       ? v.is_boolean()
         : std::holds_alternative<int64_t*>(s)  ? v.is_number_integer() && !(v.is_number_unsigned() && v > INT64_MAX)
         : std::holds_alternative<uint64_t*>(s) ? v.is_number_unsigned()
         : std::holds_alternative<double*>(s)   ? v.is_number()
                                                : v.is_string();
}

void JsonSource::open(char bracket) {
  if (bracket == '{' ? !next_->is_object() : !next_->is_array())
    throw JsonFault("found " + shown(*next_) + ", expected " + (bracket == '{' ? "an object" : "a list"));
  at_.push_back(next_);
  names_.emplace_back();
}

void JsonSource::close(char) {
  at_.pop_back();
  names_.pop_back();
}

void JsonSource::item(size_t i) {
  names_.back() = "[" + std::to_string(i) + "]";
  if (i >= at_.back()->size()) throw JsonFault("is missing");
  next_ = &(*at_.back())[i];
}

std::vector<std::string> JsonSource::keys() {
  std::vector<std::string> all;
  for (const auto& [key, v] : at_.back()->items()) all.push_back(key);
  return all;
}

void JsonSource::refuse() {
  throw JsonFault("found " + shown(*next_) + ", which the field cannot have");
}

std::string JsonSource::path() const {
  std::string all;
  for (const std::string& name : names_) all += name.empty() ? "" : name + ": ";
  return all;
}

}  // namespace kernbench::phase2
