// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/host/m_cpu.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::io {

MCpu::MCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      FabricNode(static_cast<Component&>(*this)),
      PooledInitiator(static_cast<FabricNode&>(*this), parameters.rd_engines, parameters.wr_engines) {}

KERNBENCH_REGISTER_COMPONENT(MCpu)

}  // namespace kernbench::io
