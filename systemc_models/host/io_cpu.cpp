// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/host/io_cpu.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::io {

KERNBENCH_REGISTER_COMPONENT(IoCpu)

}  // namespace kernbench::io
