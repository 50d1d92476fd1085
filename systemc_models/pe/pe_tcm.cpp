#include "kernbench/systemc_models/pe/pe_tcm.h"

#include <algorithm>
#include <cmath>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

namespace {

uint64_t megabytes(const Attributes& a, const char* name) {
  return static_cast<uint64_t>(std::floor(a.number(name, 0) * 1048576.0));
}

}  // namespace

PeTcm::PeTcm(sc_core::sc_module_name name, const ComponentConfig& config)
    : Component(name, config),
      size_bytes_(megabytes(*config.attributes, "size_mb")),
      reserved_bytes_(std::min(size_bytes_, megabytes(*config.attributes, "reserved_mb"))),
      read_bw_gbs_(config.attributes->number("read_bw_gbs", 1)),
      write_bw_gbs_(config.attributes->number("write_bw_gbs", 1)),
      allocator_(0, size_bytes_ - reserved_bytes_) {}

ImplSpec PeTcm::spec() {
  AttrSpec reserved = positive_attribute("reserved_mb", "MB", "part that only the scheduler uses, for tile buffers");
  reserved.min_exclusive = false;
  return {"builtin.pe_tcm",
          "pe_tcm",
          "tightly coupled memory of a PE",
          {overhead_attribute(), positive_attribute("size_mb", "MB", "size"), reserved,
           positive_attribute("read_bw_gbs", "GB/s", "bandwidth of FETCH"),
           positive_attribute("write_bw_gbs", "GB/s", "bandwidth of STORE")}};
}

KERNBENCH_REGISTER_COMPONENT(PeTcm)

}  // namespace kernbench
