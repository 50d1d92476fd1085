// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/component.h"

namespace kernbench::core {

Component::Component(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters& parameters)
    : sc_module(name),
      id_(config.id.empty() ? std::string(this->name()) : config.id),
      impl_(config.impl),
      context_(config.context),
      overhead_ns_(parameters.overhead_ns),
      index_(config.index) {
  if (config.build_children) config.build_children();
}

void DestroyInArena::operator()(Component* c) const {
  c->~Component();
}

}  // namespace kernbench::core
