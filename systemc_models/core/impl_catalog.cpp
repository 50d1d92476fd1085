#include "kernbench/systemc_models/core/impl_catalog.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kernbench {
namespace {

auto tied(const KindFacts& f) {
  return std::tie(f.transit, f.initiator, f.memory);
}

bool is_builtin(const ImplSpec& s) {
  return s.impl == "builtin." + s.kind;
}

std::string text_of(const KindFacts& f) {
  std::string s;
  if (f.transit) s += ", transit";
  if (f.initiator) s += ", initiator";
  if (!f.memory.empty()) s += ", memory " + f.memory;
  return s.empty() ? "an end that issues and holds nothing" : s.substr(2);
}

template <class Has>
std::vector<std::string> names_where(const std::map<std::string, Kind>& kinds, Has has) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds) {
    if (has(kind.facts)) names.push_back(name);
  }
  return names;
}

}  // namespace

bool operator==(const KindFacts& a, const KindFacts& b) {
  return tied(a) == tied(b);
}

ImplSpec& ImplSpec::transit() {
  facts.transit = true;
  return *this;
}

ImplSpec& ImplSpec::initiator() {
  facts.initiator = true;
  return *this;
}

ImplSpec& ImplSpec::memory(std::string space) {
  facts.memory = std::move(space);
  return *this;
}

void Kinds::add(const ImplSpec& s) {
  Kind& kind = kinds_[s.kind];
  if (s.facts == KindFacts{} && !is_builtin(s)) return;
  if (kind.stated_by.empty()) {
    kind.facts = s.facts;
    kind.stated_by = s.impl;
  } else if (!(kind.facts == s.facts) && kind.fault.empty()) {
    kind.fault = "kind " + s.kind + ": " + kind.stated_by + " says " + text_of(kind.facts) + "; " + s.impl + " says " +
                 text_of(s.facts) + "; legal: the same";
  }
  const std::string& space = s.facts.memory;
  if (!space.empty() && space != "hbm" && space != "sram" && kind.fault.empty())
    kind.fault = "kind " + s.kind + ": " + s.impl + " says memory " + space + "; legal: hbm, sram";
}

const Kind* Kinds::find(const std::string& name) const {
  const auto it = kinds_.find(name);
  return it == kinds_.end() ? nullptr : &it->second;
}

std::vector<std::string> Kinds::names() const {
  return names_where(kinds_, [](const KindFacts&) { return true; });
}

std::vector<std::string> Kinds::with_memory() const {
  return names_where(kinds_, [](const KindFacts& f) { return !f.memory.empty(); });
}

std::vector<std::string> Kinds::of_initiators() const {
  auto names = names_where(kinds_, [](const KindFacts& f) { return f.initiator; });
  std::stable_partition(names.begin(), names.end(), [](const std::string& n) { return n.compare(0, 3, "pe_") == 0; });
  return names;
}

}  // namespace kernbench
