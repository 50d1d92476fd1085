#include "kernbench/systemc_models/core/attributes.h"

#include <utility>

namespace kernbench {

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
  if (!v) return fallback;
  if (const double* d = std::get_if<double>(v)) return *d;
  if (const int64_t* i = std::get_if<int64_t>(v)) return static_cast<double>(*i);
  return fallback;
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

}  // namespace kernbench
