#include "kernbench/systemc_models/core/component.h"

namespace kernbench {

Component::Component(sc_core::sc_module_name name, const ComponentConfig& config, const BlockParameters& parameters)
    : sc_module(name),
      id_(config.id.empty() ? std::string(this->name()) : config.id),
      index_(config.index),
      overhead_ns_(parameters.overhead_ns),
      context_(config.context),
      impl_(config.impl) {
  if (config.build_children) config.build_children();
}

}  // namespace kernbench
