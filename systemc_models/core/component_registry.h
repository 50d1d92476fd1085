// SPDX-License-Identifier: Apache-2.0
// The blocks that are registered (registry.h), and who makes one. Plain C++: no SystemC here.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/component_catalog.h"
#include "kernbench/systemc_models/core/component_ptr.h"

namespace kernbench::core {

struct ComponentConfig;

class ComponentRegistry : public ImplCatalog {
 public:
  using Factory = std::function<ComponentPtr(const char* name, const ComponentConfig&)>;
  /// A name that is taken keeps its first owner; see conflicts().
  void add(ImplSpec spec, Factory make);
  const ImplSpec* find(const std::string& impl) const override;
  std::vector<const ImplSpec*> all() const override;
  const Kinds& kinds() const override { return kinds_; }
  const Factory* factory(const std::string& impl) const;
  /// Names that were registered more than once; a Platform does not build any of them.
  const std::vector<std::string>& conflicts() const { return conflicts_; }

 private:
  struct Type {
    ImplSpec spec;
    Factory make;
  };
  std::map<std::string, Type> types_;
  std::vector<std::string> conflicts_;
  Kinds kinds_;
};

/// The one registry of the process; component_catalog() is the same, as the topology compiler sees it.
ComponentRegistry& component_registry();

}  // namespace kernbench::core
