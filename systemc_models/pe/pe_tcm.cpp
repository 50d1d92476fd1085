// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_tcm.h"

#include <algorithm>
#include <cmath>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::pe {

namespace {

uint64_t bytes_of(double megabytes) {
  return static_cast<uint64_t>(std::floor(megabytes * 1048576.0));
}

}  // namespace

PeTcm::PeTcm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      PeBlock(static_cast<Component&>(*this)),
      read_bw_gbs_(parameters.read_bw_gbs),
      write_bw_gbs_(parameters.write_bw_gbs),
      size_bytes_(bytes_of(parameters.size_mb)),
      reserved_bytes_(std::min(size_bytes_, bytes_of(parameters.reserved_mb))),
      allocator_(0, size_bytes_ - reserved_bytes_) {}

ImplSpec PeTcm::spec() {
  return spec_of<Parameters>("builtin.pe_tcm", "pe_tcm", "tightly coupled memory of a PE");
}

KERNBENCH_REGISTER_COMPONENT(PeTcm)

}  // namespace kernbench::pe
