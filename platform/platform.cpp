// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/platform.h"

#include <fmt/format.h>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/platform/launch/reset.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench {
namespace {

/// Internal times stay exact; callers of the kernel see them rounded to its resolution.
void warn_of_coarse_resolution() {
  const sc_core::sc_time tick = sc_core::sc_get_time_resolution();
  if (tick <= sc_core::sc_time(1, sc_core::SC_NS)) return;
  SC_REPORT_WARNING("/kernbench/resolution",
                    ("the time resolution is " + tick.to_string() +
                     "; the model needs 1 ps or less: delays at sockets and sc_time_stamp() are rounded to a tick, so "
                     "other modules see wrong times. Call sc_set_time_resolution(1, SC_PS) before the first sc_time")
                        .c_str());
}

}  // namespace

topology::Graph compile_file(const std::string& topology_file, const std::vector<topology::Setting>& settings) {
  topology::Overrides overrides;
  overrides.settings = settings;
  return topology::compile_file(topology_file, component_catalog(), overrides);
}

Platform::Platform(sc_core::sc_module_name name, const std::string& topology_file)
    : Platform(name, compile_file(topology_file)) {}

Platform::Platform(sc_core::sc_module_name name, topology::Graph graph)
    : sc_module(name), machine_(std::move(graph)), hosts_(machine_) {
  warn_of_coarse_resolution();
  logging::set_simulated_time([] { return sc_core::sc_time_stamp().to_seconds() * 1e9; });
  logging::info(logging::Room::elaborate, [&] {
    return fmt::format("elaborated {} as {}: {} blocks", this->graph().name, this->name(), this->graph().nodes.size());
  });
}

Platform::~Platform() = default;

void Platform::reset(const std::string& id) {
  launch::reset_part(machine_, id);
}

void Platform::expose_attributes() {
  if (!exposed_) exposed_ = std::make_unique<ExposedAttributes>(graph(), machine_.blocks());
}

void Platform::check_attributes() const {
  if (exposed_) exposed_->check(sc_core::SC_ERROR);
}

void Platform::end_of_simulation() {
  if (exposed_) exposed_->check(sc_core::SC_WARNING);
}

Machine& elaborate::machine_of(Platform& platform) {
  return platform.machine();
}

DeviceAllocators& launch::allocators_of(Platform& platform) {
  return platform.hosts().allocators();
}

}  // namespace kernbench
