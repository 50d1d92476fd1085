// SPDX-License-Identifier: Apache-2.0
// Blocks by the name in `impl:` in YAML. A block registers itself with one line in its own .cpp,
//
//   KERNBENCH_REGISTER_COMPONENT(MyHbm)   // MyHbm::Parameters, MyHbm::spec(), constructor (name, config, parameters)
//
// in the library, an executable or a plug-in.
#pragma once

#include <utility>

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/core/component_registry.h"

namespace kernbench::core {

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

}  // namespace kernbench::core

#define KERNBENCH_REGISTER_COMPONENT(Class)                                                                            \
  namespace {                                                                                                          \
  const ::kernbench::ComponentRegistration registration_of_##Class(Class::spec(), ::kernbench::make_component<Class>); \
  }
