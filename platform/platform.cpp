#include "kernbench/platform/platform.h"

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

Platform::Platform(sc_core::sc_module_name name, const std::string& topology_file)
    : Platform(name, topology::compile_file(topology_file, component_catalog())) {}

Platform::Platform(sc_core::sc_module_name name, topology::Graph graph)
    : sc_module(name), machine_(std::move(graph)), hosts_(machine_) {}

}  // namespace kernbench
