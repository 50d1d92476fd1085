// Blocks by the name that `impl:` uses in YAML. A block registers itself with one line in its own .cpp:
//
//   KERNBENCH_REGISTER_COMPONENT(MyHbm)   // MyHbm::Parameters, MyHbm::spec(), constructor (name, config, parameters)
//
// in the library, in a user's executable or in a plug-in alike.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench {

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

/// Makes a Class with the attributes of its node.
template <class Class>
ComponentPtr make_component(const char* name, const ComponentConfig& config) {
  void* place = config.context->arena().allocate(sizeof(Class));
  return ComponentPtr(new (place)
                          Class(name, config, parameters_of<typename Class::Parameters>().from(*config.attributes)));
}

struct ComponentRegistration {
  ComponentRegistration(ImplSpec spec, ComponentRegistry::Factory make) {
    component_registry().add(std::move(spec), std::move(make));
  }
};

}  // namespace kernbench

#define KERNBENCH_REGISTER_COMPONENT(Class)                                                                            \
  namespace {                                                                                                          \
  const ::kernbench::ComponentRegistration registration_of_##Class(Class::spec(), ::kernbench::make_component<Class>); \
  }
