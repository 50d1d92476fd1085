#include "kernbench/platform/platform.h"

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {
namespace {

/// Inside times stay exact; but who asks the kernel sees them rounded to its tick.
void warn_of_coarse_resolution() {
  const sc_core::sc_time tick = sc_core::sc_get_time_resolution();
  if (tick <= sc_core::sc_time(1, sc_core::SC_NS)) return;
  SC_REPORT_WARNING("/kernbench/resolution",
                    ("the time resolution is " + tick.to_string() +
                     "; the model's times are of ns and less: delays at sockets and sc_time_stamp() lose what is "
                     "shorter than a tick, and modules of yours see it at the wrong time. "
                     "sc_set_time_resolution(1, SC_PS) before the first sc_time")
                        .c_str());
}

}  // namespace

Platform::Platform(sc_core::sc_module_name name, const std::string& topology_file)
    : Platform(name, topology::compile_file(topology_file, component_catalog())) {}

Platform::Platform(sc_core::sc_module_name name, topology::Graph graph)
    : sc_module(name), machine_(std::move(graph)), hosts_(machine_) {
  warn_of_coarse_resolution();
}

}  // namespace kernbench
