#include "kernbench/platform/topology/graph/kinds.h"

#include <unordered_map>

namespace kernbench::topology {

const KindInfo* find_kind(const std::string& kind) {
  static const std::unordered_map<std::string, KindInfo> table = {
      {"router", {true, false, ""}},          {"xbar", {true, false, ""}},      {"bridge", {true, false, ""}},
      {"switch", {true, false, ""}},          {"ucie", {true, false, ""}},      {"noc", {true, false, ""}},
      {"io_noc", {true, false, ""}},          {"io_cpu", {true, false, ""}},    {"pcie_ep", {true, true, ""}},
      {"hbm_ctrl", {false, false, "hbm"}},    {"sram", {false, false, "sram"}}, {"m_cpu", {false, true, ""}},
      {"pe_dma", {false, true, ""}},          {"port", {false, true, ""}},      {"pe_cpu", {false, false, ""}},
      {"pe_scheduler", {false, false, ""}},   {"pe_gemm", {false, false, ""}},  {"pe_math", {false, false, ""}},
      {"pe_fetch_store", {false, false, ""}}, {"pe_tcm", {false, false, ""}},   {"pe_mmu", {false, false, ""}},
      {"pe_ipcq", {false, false, ""}},        {"foreign", {true, false, ""}},
  };
  const auto it = table.find(kind);
  return it == table.end() ? nullptr : &it->second;
}

}  // namespace kernbench::topology
