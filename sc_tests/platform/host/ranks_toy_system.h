// SPDX-License-Identifier: Apache-2.0
// Ranks small enough to compute by hand: each a SIP of one cube with two PEs, flat YAML, ns_per_mm 0.1; a switch joins
// them. Overheads in brackets, ns:
//
//   pcie_ep(3) -1mm- noc(1) -far mm- io_cpu(7) ; noc -2mm- hub(20) -2mm- m_cpu(4)
//   m_cpu -2mm- pe0.pe_cpu, m_cpu -30mm- pe1.pe_cpu    commands; hub -0mm- pe_dma, hbm
//
// `far` is 1 mm in rank 0, 11 mm in rank 1, 21 mm in rank 2: their launches arrive 2 ns apart (there and back to noc).
#pragma once

#include <string>

namespace kernbench::testing::ranks_toy {

/// From the host to PE 1 of a rank, the last one to be reached; and back.
inline double way_ns(int rank) {
  const double far = 0.1 * (1 + 10 * rank);
  return (3 + 1 + 0.1 + far) + (7 + 1 + 20 + far + 0.1 * (2 + 2)) + (4 + 0.1 * 30);
}

inline std::string system(int ranks) {
  std::string nodes, links, memories;
  const auto node = [&](const std::string& id, const std::string& kind, const std::string& attrs) {
    nodes += "- {id: " + id + ", kind: " + kind + ", attrs: {" + attrs + "}}\n";
  };
  const auto link = [&](const std::string& a, const std::string& b, int mm, const std::string& more = "") {
    links += "- {from: " + a + ", to: " + b + ", distance_mm: " + std::to_string(mm) + more + "}\n";
  };
  node("sw", "switch", "overhead_ns: 5");
  for (int r = 0; r < ranks; ++r) {
    const std::string sip = "sip" + std::to_string(r), cube = sip + ".cube0.", io = sip + ".io0.";
    node(io + "pcie_ep", "pcie_ep", "overhead_ns: 3");
    node(io + "noc", "io_noc", "overhead_ns: 1");
    node(io + "io_cpu", "io_cpu", "overhead_ns: 7");
    node(cube + "hub", "router", "overhead_ns: 20");
    node(cube + "m_cpu", "m_cpu", "overhead_ns: 4");
    node(cube + "hbm", "hbm_ctrl", "overhead_ns: 0");
    link(io + "pcie_ep", io + "noc", 1, ", bw_gbs: 64");
    link(io + "pcie_ep", "sw", 10, ", bw_gbs: 64");
    link(io + "noc", io + "io_cpu", 1 + 10 * r);
    link(io + "noc", cube + "hub", 2, ", bw_gbs: 64");
    link(cube + "hub", cube + "m_cpu", 2);
    link(cube + "hub", cube + "hbm", 0, ", bw_gbs: 128");
    for (int p = 0; p < 2; ++p) {
      const std::string pe = cube + "pe" + std::to_string(p) + ".";
      node(pe + "pe_cpu", "pe_cpu", "overhead_ns: 2, freq_ghz: 1");
      node(pe + "pe_scheduler", "pe_scheduler", "overhead_ns: 1");
      node(pe + "pe_dma", "pe_dma", "overhead_ns: 0");
      node(pe + "pe_fetch_store", "pe_fetch_store", "");
      node(pe + "pe_gemm", "pe_gemm", "macs_per_cycle: 1024, freq_ghz: 1");
      node(pe + "pe_math", "pe_math", "lanes: 128, freq_ghz: 1");
      node(pe + "pe_ipcq", "pe_ipcq", "");
      node(pe + "pe_tcm", "pe_tcm", "size_mb: 2, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512");
      link(cube + "hub", pe + "pe_dma", 0, ", bw_gbs: 128");
      link(cube + "m_cpu", pe + "pe_cpu", p == 0 ? 2 : 30, ", kind: command");
    }
    memories += "- {node: " + cube + "hbm, space: hbm, base: " + std::to_string(r * 16777216) + ", size: 16777216}\n";
  }
  return "ns_per_mm: 0.1\ntiming: {links: ideal, response: routed}\nnodes:\n" + nodes + "links:\n" + links +
         "memories:\n" + memories;
}

}  // namespace kernbench::testing::ranks_toy
