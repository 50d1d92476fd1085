// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/component_registry.h"

namespace kernbench::core {

void ComponentRegistry::add(ImplSpec spec, Factory make) {
  const std::string name = spec.impl;
  const auto [it, fresh] = types_.emplace(name, Type{std::move(spec), std::move(make)});
  if (fresh)
    kinds_.add(it->second.spec);
  else
    conflicts_.push_back(name);
}

const ImplSpec* ComponentRegistry::find(const std::string& impl) const {
  const auto it = types_.find(impl);
  return it == types_.end() ? nullptr : &it->second.spec;
}

std::vector<const ImplSpec*> ComponentRegistry::all() const {
  std::vector<const ImplSpec*> v;
  for (const auto& [name, type] : types_) v.push_back(&type.spec);
  return v;
}

const ComponentRegistry::Factory* ComponentRegistry::factory(const std::string& impl) const {
  const auto it = types_.find(impl);
  return it == types_.end() ? nullptr : &it->second.make;
}

ComponentRegistry& component_registry() {
  static ComponentRegistry registry;
  return registry;
}

const ImplCatalog& component_catalog() {
  return component_registry();
}

}  // namespace kernbench::core
