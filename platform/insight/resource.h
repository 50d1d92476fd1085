// What takes time in a run, by class: what a critical path is blamed on, and what a what-if scales.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::insight {

/// A class of what takes time. docs/insight.md says of each what counts as it.
enum class Resource : uint8_t {
  launch,     ///< overheads of pcie_ep, io_cpu and m_cpu, which launches and the host's transfers pass
  host,       ///< what the host itself takes: delays of programs, what nobody explains before a launch
  pe_cpu,     ///< the cost of a command in the kernel
  kernel,     ///< scalar work of a kernel
  scheduler,  ///< overhead of pe_scheduler
  engines,    ///< overheads of engines of PEs
  mmu,        ///< look-ups
  gemm,       ///< multiply-accumulates
  math,       ///< elementwise work
  tcm,        ///< ports of the TCM
  hbm,        ///< bandwidth of edges to HBM and of its channels
  sram,       ///< bandwidth of edges to shared SRAM
  memory,     ///< overheads of memories, and the time of those that are not kernbench's
  mesh,       ///< bandwidth of the links of a cube: between routers, and from pe_dma, m_cpu and ports to them
  ucie,       ///< bandwidth of links of UCIe ports
  pcie,       ///< bandwidth of PCIe and inside IO chiplets
  link,       ///< bandwidth of links of any other kind, as flat topologies have them
  routers,    ///< overheads of the nodes that a message passes
  wires,      ///< distances
  queues,     ///< overhead of pe_ipcq, and its slots' accesses
  buffers,    ///< of a system with finite buffers: waits for room and channels, which is what no other rule explains
  other,      ///< what no rule explains: blocks that are not kernbench's
};
constexpr size_t kResources = static_cast<size_t>(Resource::other) + 1;

/// "HBM bandwidth", for sentences.
std::string_view title_of(Resource);
/// "hbm", for files and options.
std::string_view name_of(Resource);

/// Whose bandwidth an edge's is.
Resource resource_of(const topology::Graph&, const topology::Edge&);
/// Whose a node's overhead is.
Resource resource_of(const topology::Node&);

}  // namespace kernbench::insight
