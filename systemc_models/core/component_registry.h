// SPDX-License-Identifier: Apache-2.0
// The registered blocks (registry.h) and their factories. Plain C++, no SystemC.
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
  /// If a name is taken, the first owner keeps it; see conflicts().
  void add(ImplSpec spec, Factory make);
  const ImplSpec* find(const std::string& impl) const override;
  std::vector<const ImplSpec*> all() const override;
  const Kinds& kinds() const override { return kinds_; }
  const Factory* factory(const std::string& impl) const;
  /// Names that were registered more than once. A Platform refuses to build them.
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

/// The registry of the process. component_catalog() is its interface for the topology compiler.
ComponentRegistry& component_registry();

}  // namespace kernbench::core
