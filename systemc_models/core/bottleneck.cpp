// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/bottleneck.h"

namespace kernbench::core {
namespace {

struct Names {
  std::string_view name, title;
  std::string_view scale = {}, scale_title = {};  ///< for limits
};
constexpr Names kResourceNames[kResources] = {
    {"launch", "the launch"},
    {"host", "the host"},
    {"pe_cpu", "command issue in pe_cpu"},
    {"kernel", "scalar work of kernels"},
    {"scheduler", "the overhead of pe_scheduler"},
    {"engines", "overheads of the PEs' engines"},
    {"mmu", "MMU look-ups"},
    {"gemm", "the GEMM rate"},
    {"math", "the MATH rate"},
    {"tcm", "TCM bandwidth"},
    {"hbm", "HBM bandwidth"},
    {"sram", "SRAM bandwidth"},
    {"memory", "the overhead of memories"},
    {"mesh", "mesh bandwidth"},
    {"ucie", "UCIe bandwidth"},
    {"pcie", "PCIe bandwidth"},
    {"link", "link bandwidth"},
    {"routers", "the overhead of routers"},
    {"wires", "wire delay"},
    {"queues", "the queues between PEs"},
    {"polling", "the interval between polls"},
    {"rows", "activation of DRAM rows"},
    {"banks", "conflicts in DRAM banks"},
    {"refresh", "DRAM refresh"},
    {"turnaround", "read/write turnaround of the DRAM"},
    {"dram_queue", "places in the DRAM's queues"},
    {"buffers", "room in finite buffers"},
    {"other", "foreign blocks"},
};

constexpr Names kLimitNames[kLimits] = {
    {"none", "nothing"},
    {"window", "the window of tiles in flight"},
    {"depth", "the depth of the engines' queues", "queue_depth", "depth of the engines' queues"},
    {"engines", "the number of pe_dma's engines", "dma_engines", "engines of pe_dma"},
    {"channels", "the spread over memory channels"},
    {"slots", "the slots of queues between PEs"},
    {"outstanding", "pe_dma's outstanding transactions of one item"},
    {"buffers", "room in finite buffers"},
};

}  // namespace

std::string_view name_of(Resource r) {
  return kResourceNames[static_cast<size_t>(r)].name;
}

std::string_view title_of(Resource r) {
  return kResourceNames[static_cast<size_t>(r)].title;
}

std::string_view name_of(Limit limit) {
  return kLimitNames[static_cast<size_t>(limit)].name;
}

std::string_view title_of(Limit limit) {
  return kLimitNames[static_cast<size_t>(limit)].title;
}

std::string_view scale_name_of(Limit limit) {
  return kLimitNames[static_cast<size_t>(limit)].scale;
}

std::string_view scale_title_of(Limit limit) {
  return kLimitNames[static_cast<size_t>(limit)].scale_title;
}

}  // namespace kernbench::core
