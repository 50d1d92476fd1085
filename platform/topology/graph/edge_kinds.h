// SPDX-License-Identifier: Apache-2.0
// Kinds of edges in a hierarchical topology. Timing ignores kinds; restricted routing graphs (router.h) and views use
// them.
#pragma once

namespace kernbench::topology::edge_kind {

inline constexpr const char* kMesh = "mesh";               ///< router to router, crossbar to crossbar, bridge or NoC
inline constexpr const char* kPe = "pe";                   ///< a pe_dma and its router or crossbar
inline constexpr const char* kMemory = "memory";           ///< a memory and its router or crossbar
inline constexpr const char* kPort = "port";               ///< a foreign initiator's port and its router or NoC
inline constexpr const char* kMCpu = "m_cpu";              ///< an m_cpu and its router or NoC
inline constexpr const char* kUcie = "ucie";               ///< to, in and between UCIe ports
inline constexpr const char* kIo = "io";                   ///< inside an IO chiplet
inline constexpr const char* kPcie = "pcie";               ///< an IO chiplet's endpoint and the switch
inline constexpr const char* kCommand = "command";         ///< m_cpu to pe_cpu: launches and completions, no data
inline constexpr const char* kPeInternal = "pe_internal";  ///< between the blocks of a PE (ADR-0014 D8)

}  // namespace kernbench::topology::edge_kind
