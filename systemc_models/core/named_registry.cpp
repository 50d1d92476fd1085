// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/named_registry.h"

#include <utility>

namespace kernbench::core {
namespace {

std::vector<const NamedRegistry*>& of_the_process() {
  static std::vector<const NamedRegistry*> all;
  return all;
}

}  // namespace

NamedRegistry::NamedRegistry(std::string what) : what_(std::move(what)) {
  of_the_process().push_back(this);
}

const std::vector<const NamedRegistry*>& NamedRegistry::registries() {
  return of_the_process();
}

std::vector<std::string> NamedRegistry::names() const {
  std::vector<std::string> v;
  for (const Name& n : all_) v.push_back(n.name);
  return v;
}

size_t NamedRegistry::add(std::string name, std::string help) {
  if (find(name) != kNone) {
    conflicts_.push_back(std::move(name));
    return kNone;
  }
  all_.push_back({std::move(name), std::move(help)});
  return all_.size() - 1;
}

size_t NamedRegistry::find(const std::string& name) const {
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].name == name) return i;
  }
  return kNone;
}

}  // namespace kernbench::core
