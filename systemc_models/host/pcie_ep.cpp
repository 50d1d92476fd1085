// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/host/pcie_ep.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::io {

KERNBENCH_REGISTER_COMPONENT(PcieEp)

}  // namespace kernbench::io
