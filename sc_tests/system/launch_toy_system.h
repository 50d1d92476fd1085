// SPDX-License-Identifier: Apache-2.0
// A SIP small enough to compute by hand: one cube with two PEs, flat YAML, ns_per_mm 0.1.
//
//   pcie_ep(3) -1mm- noc(1) -1mm- io_cpu(7)            overheads in brackets, ns
//   noc -2mm- slow(20) -2mm- m_cpu(4)                  4 mm: the route, although slow
//   noc -3mm- quick(0) -2mm- m_cpu                     5 mm
//   m_cpu -2mm- pe0.pe_cpu, m_cpu -30mm- pe1.pe_cpu    commands
//   quick -0mm- pe0.pe_dma, pe1.pe_dma, hbm
#pragma once

#include <string>

namespace kernbench::testing {

namespace toy {
constexpr double kToIoCpu = 3 + 1 + 0.1 * (1 + 1);          // 4.2
constexpr double kToMCpu = 7 + 1 + 20 + 0.1 * (1 + 2 + 2);  // 28.5
constexpr double kToPe0 = 4 + 0.1 * 2;                      // 4.2
constexpr double kToPe1 = 4 + 0.1 * 30;                     // 7
constexpr double kNear = kToIoCpu + kToMCpu + kToPe0;       // 36.9
constexpr double kFar = kToIoCpu + kToMCpu + kToPe1;        // 39.7
}  // namespace toy

/// `without`: an id to omit, with its links.
inline std::string toy_system(const std::string& without = "") {
  std::string nodes, links;
  const auto node = [&](const std::string& id, const std::string& kind, const std::string& attrs) {
    if (id != without) nodes += "- {id: " + id + ", kind: " + kind + ", attrs: {" + attrs + "}}\n";
  };
  const auto link = [&](const std::string& a, const std::string& b, int mm, const std::string& more = "") {
    if (a != without && b != without)
      links += "- {from: " + a + ", to: " + b + ", distance_mm: " + std::to_string(mm) + more + "}\n";
  };
  node("sip0.io0.pcie_ep", "pcie_ep", "overhead_ns: 3");
  node("sip0.io0.noc", "io_noc", "overhead_ns: 1");
  node("sip0.io0.io_cpu", "io_cpu", "overhead_ns: 7");
  node("sip0.cube0.slow", "router", "overhead_ns: 20");
  node("sip0.cube0.quick", "router", "overhead_ns: 0");
  node("sip0.cube0.m_cpu", "m_cpu", "overhead_ns: 4");
  node("sip0.cube0.hbm", "hbm_ctrl", "overhead_ns: 0");
  link("sip0.io0.pcie_ep", "sip0.io0.noc", 1, ", bw_gbs: 64");
  link("sip0.io0.noc", "sip0.io0.io_cpu", 1);
  link("sip0.io0.noc", "sip0.cube0.slow", 2, ", bw_gbs: 64");
  link("sip0.io0.noc", "sip0.cube0.quick", 3, ", bw_gbs: 64");
  link("sip0.cube0.slow", "sip0.cube0.m_cpu", 2);
  link("sip0.cube0.quick", "sip0.cube0.m_cpu", 2);
  link("sip0.cube0.quick", "sip0.cube0.hbm", 0, ", bw_gbs: 128");
  for (int p = 0; p < 2; ++p) {
    const std::string pe = "sip0.cube0.pe" + std::to_string(p) + ".";
    node(pe + "pe_cpu", "pe_cpu", "overhead_ns: 2");
    node(pe + "pe_scheduler", "pe_scheduler", "overhead_ns: 1");
    node(pe + "pe_dma", "pe_dma", "overhead_ns: 0");
    node(pe + "pe_fetch_store", "pe_fetch_store", "");
    node(pe + "pe_gemm", "pe_gemm", "macs_per_cycle: 1024, freq_ghz: 1");
    node(pe + "pe_math", "pe_math", "lanes: 128, freq_ghz: 1");
    node(pe + "pe_tcm", "pe_tcm", "size_mb: 2, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512");
    link("sip0.cube0.quick", pe + "pe_dma", 0, ", bw_gbs: 128");
    link("sip0.cube0.m_cpu", pe + "pe_cpu", p == 0 ? 2 : 30, ", kind: command");
  }
  return "ns_per_mm: 0.1\ntiming: {links: ideal, response: routed}\nnodes:\n" + nodes + "links:\n" + links +
         "memories:\n- {node: sip0.cube0.hbm, space: hbm, base: 0, size: 16777216}\n";
}

}  // namespace kernbench::testing
