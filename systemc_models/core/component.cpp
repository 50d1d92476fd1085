#include "kernbench/systemc_models/core/component.h"

namespace kernbench {

Component::Component(sc_core::sc_module_name name, const ComponentConfig& config)
    : sc_module(name),
      id_(config.id),
      index_(config.index),
      overhead_ns_(config.attributes->number("overhead_ns", 0)),
      fabric_(config.fabric) {
  if (config.build_children) config.build_children();
}

AttrSpec overhead_attribute() {
  AttrSpec a;
  a.name = "overhead_ns";
  a.unit = "ns";
  a.help = "fixed delay of a message through the block";
  a.default_value = 0.0;
  a.min = 0;
  return a;
}

AttrSpec positive_attribute(const char* name, const char* unit, const char* help) {
  AttrSpec a;
  a.name = name;
  a.unit = unit;
  a.help = help;
  a.required = true;
  a.min = 0;
  a.min_exclusive = true;
  return a;
}

AttrSpec efficiency_attribute() {
  AttrSpec a;
  a.name = "efficiency";
  a.help = "share of the bandwidth of the edges that touch the controller";
  a.default_value = 1.0;
  a.min = 0;
  a.min_exclusive = true;
  a.max = 1;
  return a;
}

AttrSpec count_attribute(const char* name, int64_t default_value, const char* help) {
  AttrSpec a;
  a.name = name;
  a.type = AttrType::integer;
  a.help = help;
  a.default_value = default_value;
  a.min = 1;
  a.max = 1 << 20;
  return a;
}

}  // namespace kernbench
