#include "kernbench/systemc_models/host/io_cpu.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

KERNBENCH_REGISTER_COMPONENT(IoCpu)

}  // namespace kernbench
