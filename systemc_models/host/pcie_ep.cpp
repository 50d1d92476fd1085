#include "kernbench/systemc_models/host/pcie_ep.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

KERNBENCH_REGISTER_COMPONENT(PcieEp)

}  // namespace kernbench
