// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/impl_catalog.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kernbench::core {
namespace {

auto tied(const EngineStage& s) {
  return std::tie(s.stage, s.work, s.short_name);
}
auto tied(const KindFacts& f) {
  const EngineFacts& e = f.engine;
  return std::tie(f.transit, f.initiator, f.memory, e.stages, e.needed, e.stages_apart, e.ops, f.leads_to,
                  f.bound_without);
}

auto tied_for_energy(const KindFacts& f) {
  return std::tie(f.passing, f.phy, f.on_die, f.overhead);
}

bool is_builtin(const ImplSpec& s) {
  return s.impl == "builtin." + s.kind;
}

std::string text_of(const KindFacts& f) {
  std::string s;
  if (f.transit) s += ", transit";
  if (f.initiator) s += ", initiator";
  if (!f.memory.empty()) s += ", memory " + f.memory;
  if (!f.engine.stages.empty()) s += ", an engine of " + std::to_string(f.engine.stages.size()) + " stages";
  for (const std::string& op : f.engine.ops) s += ", takes " + op;
  for (const std::string& kind : f.leads_to) s += ", leads to " + kind;
  for (const std::string& kind : f.bound_without) s += ", bound to " + kind;
  if (f.transit && f.passing != KindFacts{}.passing) s += ", passing " + (f.passing.empty() ? "nothing" : f.passing);
  if (!f.phy.empty()) s += ", PHY " + f.phy;
  if (!f.on_die) s += ", off the die";
  if (f.overhead) s += ", overhead " + std::string(name_of(*f.overhead));
  return s.empty() ? "an endpoint that neither issues nor stores" : s.substr(2);
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

bool operator==(const EngineStage& a, const EngineStage& b) {
  return tied(a) == tied(b);
}

bool operator==(const KindFacts& a, const KindFacts& b) {
  return tied(a) == tied(b);
}

void Kinds::add(const ImplSpec& s) {
  Kind& kind = kinds_[s.kind];
  const bool of_energy = tied_for_energy(s.facts) != tied_for_energy(KindFacts{});
  if (s.facts == KindFacts{} && !of_energy && !is_builtin(s)) return;
  if (kind.stated_by.empty()) {
    kind.facts = s.facts;
    kind.stated_by = s.impl;
  } else if ((!(kind.facts == s.facts) || (of_energy && tied_for_energy(kind.facts) != tied_for_energy(s.facts))) &&
             kind.fault.empty()) {
    kind.fault = "kind " + s.kind + ": " + kind.stated_by + " says " + text_of(kind.facts) + "; " + s.impl + " says " +
                 text_of(s.facts) + "; legal: the same";
  }
  const std::string& space = s.facts.memory;
  if (!space.empty() && (!is_space_name(space) || space == name_of(Space::tcm)) && kind.fault.empty())
    kind.fault = "kind " + s.kind + ": " + s.impl + " says memory " + space + "; legal: hbm, sram, or " + kSpaceNames;
  for (const EngineStage& said : s.facts.engine.stages) {
    const auto known = stages_.find(said.stage);
    if (known != stages_.end() && known->second.work != said.work && kind.fault.empty())
      kind.fault =
          "kind " + s.kind + ": " + s.impl + " declares other work for a stage that another kind has; legal: the same";
  }
  gather();
}

void Kinds::gather() {
  stages_.clear();
  engines_ = names_where(kinds_, [](const KindFacts& f) { return !f.engine.stages.empty(); });
  const auto first = [this](const std::string& kind) { return kinds_.at(kind).facts.engine.stages.front().stage; };
  std::stable_sort(engines_.begin(), engines_.end(),
                   [&](const std::string& a, const std::string& b) { return first(a) < first(b); });
  pe_edges_ = {};
  for (const std::string& engine : engines_) {
    pe_edges_.standard.emplace_back("pe_scheduler", engine);
    for (const EngineStage& s : kinds_.at(engine).facts.engine.stages) stages_.emplace(s.stage, s);
  }
  for (const auto& [name, kind] : kinds_) {
    for (const std::string& to : kind.facts.leads_to) pe_edges_.standard.emplace_back(name, to);
    for (const std::string& to : kind.facts.bound_without) pe_edges_.without_edge.emplace_back(name, to);
  }
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

}  // namespace kernbench::core
