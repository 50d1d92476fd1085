// SPDX-License-Identifier: Apache-2.0
// Two reasons why a part of a machine slows a run down: a resource takes time, and a limit makes items wait. Attributes
// declare which of them they change (parameters.h). --explain, --scale and remedies use that. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {

/// A class of time consumers. docs/insight.md lists the parts of each.
enum class Resource : uint8_t {
  launch,      ///< overheads of pcie_ep, io_cpu and m_cpu, for launches and transfers of the host
  host,        ///< the host: delays of programs, and unexplained time before a launch
  pe_cpu,      ///< cost of a command in the kernel
  kernel,      ///< scalar work of a kernel
  scheduler,   ///< overhead of pe_scheduler
  engines,     ///< overheads of engines of PEs
  mmu,         ///< look-ups
  gemm,        ///< multiply-accumulates
  math,        ///< elementwise work
  tcm,         ///< ports of the TCM
  hbm,         ///< bandwidth of edges to HBM and of its channels
  sram,        ///< bandwidth of edges to shared SRAM
  memory,      ///< overheads of memories, and the time of foreign memories
  mesh,        ///< bandwidth of a cube's links: between routers, and from pe_dma, m_cpu and ports to them
  ucie,        ///< bandwidth of links of UCIe ports
  pcie,        ///< bandwidth of PCIe and inside IO chiplets
  link,        ///< bandwidth of all other links, as in flat topologies
  routers,     ///< overheads of the nodes on a message's path
  wires,       ///< distances
  queues,      ///< overhead of pe_ipcq, and accesses to its slots
  polling,     ///< from a flag's change to the poll that finds it (tl.wait_until)
  rows,        ///< DRAM: its data bus waits for an activation in a closed bank
  banks,       ///< DRAM: its data bus waits for a bank with another row open, or for a bank group
  refresh,     ///< DRAM: its data bus waits for a refresh
  turnaround,  ///< DRAM: its data bus turns from reads to writes, or back
  dram_queue,  ///< DRAM: its data bus is idle because requests wait for places in queues
  buffers,     ///< in systems with finite buffers: waits for buffer space and channels that no other rule explains
  other,       ///< time that no rule explains: foreign blocks
};
constexpr size_t kResources = static_cast<size_t>(Resource::other) + 1;

/// "HBM bandwidth", for sentences.
std::string_view title_of(Resource);
/// "hbm", for files and options.
std::string_view name_of(Resource);

/// A limit in the causal graph of a run. docs/insight.md lists the attributes that each follows from.
enum class Limit : uint8_t {
  none,
  window,       ///< tiles in flight of composites: reserved TCM
  depth,        ///< space in the queue of an engine
  engines,      ///< servers of pe_dma
  channels,     ///< a memory channel has more than its equal part of the load while others are idle
  slots,        ///< of the rings between PEs
  outstanding,  ///< transactions in flight of pe_dma for one item
  buffers,      ///< space in, and virtual channels of, finite buffers
};
constexpr size_t kLimits = static_cast<size_t>(Limit::buffers) + 1;

/// "window", for files.
std::string_view name_of(Limit);
/// "the window of tiles in flight", for sentences.
std::string_view title_of(Limit);
/// "queue_depth": the name in --scale for all attributes of the limit. Empty: --scale cannot change them.
std::string_view scale_name_of(Limit);
/// "depth of the engines' queues".
std::string_view scale_title_of(Limit);

}  // namespace kernbench::core
