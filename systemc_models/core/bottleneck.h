// SPDX-License-Identifier: Apache-2.0
// The two ways in which a part of a machine holds a run back: a resource takes time, a limit makes things wait.
// Attributes declare which of them they move (parameters.h); --explain, --scale and remedies read that. Plain C++: no
// SystemC here.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {

/// A class of what takes time. docs/insight.md says of each what counts as it.
enum class Resource : uint8_t {
  launch,      ///< overheads of pcie_ep, io_cpu and m_cpu, which launches and the host's transfers pass
  host,        ///< what the host itself takes: delays of programs, and unexplained time before a launch
  pe_cpu,      ///< the cost of a command in the kernel
  kernel,      ///< scalar work of a kernel
  scheduler,   ///< overhead of pe_scheduler
  engines,     ///< overheads of engines of PEs
  mmu,         ///< look-ups
  gemm,        ///< multiply-accumulates
  math,        ///< elementwise work
  tcm,         ///< ports of the TCM
  hbm,         ///< bandwidth of edges to HBM and of its channels
  sram,        ///< bandwidth of edges to shared SRAM
  memory,      ///< overheads of memories, and the time of those that are not kernbench's
  mesh,        ///< bandwidth of the links of a cube: between routers, and from pe_dma, m_cpu and ports to them
  ucie,        ///< bandwidth of links of UCIe ports
  pcie,        ///< bandwidth of PCIe and inside IO chiplets
  link,        ///< bandwidth of links of any other kind, as flat topologies have them
  routers,     ///< overheads of the nodes that a message passes
  wires,       ///< distances
  queues,      ///< overhead of pe_ipcq, and its slots' accesses
  polling,     ///< from a flag's change to the poll that finds it (tl.wait_until)
  rows,        ///< of a DRAM: its data bus waits for an activation in a closed bank
  banks,       ///< of a DRAM: its data bus waits for a bank with another row open, or for a bank group
  refresh,     ///< of a DRAM: its data bus waits for a refresh
  turnaround,  ///< of a DRAM: its data bus turns from reads to writes, or back
  dram_queue,  ///< of a DRAM: its data bus has nothing to do, because requests wait for places in queues
  buffers,     ///< of a system with finite buffers: waits for room and channels, which is what no other rule explains
  other,       ///< what no rule explains: blocks that are not kernbench's
};
constexpr size_t kResources = static_cast<size_t>(Resource::other) + 1;

/// "HBM bandwidth", for sentences.
std::string_view title_of(Resource);
/// "hbm", for files and options.
std::string_view name_of(Resource);

/// Of the causes of a run: whose limit one is. docs/insight.md says which attributes each follows from.
enum class Limit : uint8_t {
  none,
  window,       ///< tiles in flight of composites: reserved TCM
  depth,        ///< room in the queue of an engine
  engines,      ///< servers of pe_dma
  channels,     ///< a memory's channel has more than its even share while others are idle
  slots,        ///< of the rings between PEs
  outstanding,  ///< transactions that pe_dma has under way for one item
  buffers,      ///< room, and virtual channels, of finite buffers
};
constexpr size_t kLimits = static_cast<size_t>(Limit::buffers) + 1;

/// "window", for files.
std::string_view name_of(Limit);
/// "the window of tiles in flight", for sentences.
std::string_view title_of(Limit);
/// "queue_depth": what --scale calls all attributes of the limit. Empty: --scale does not change them.
std::string_view scale_name_of(Limit);
/// "depth of the engines' queues".
std::string_view scale_title_of(Limit);

}  // namespace kernbench::core
