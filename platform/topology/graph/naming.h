// SPDX-License-Identifier: Apache-2.0
// The only place that creates ids of a hierarchical topology.
#pragma once

#include <cstdint>
#include <string>

namespace kernbench::topology {

enum class Side : uint8_t { north, east, south, west };
constexpr int kSides = 4;
/// 'N', 'E', 'S', 'W'.
char letter_of(Side);
Side opposite(Side);

namespace naming {

std::string pcie_switch(uint32_t i);             ///< "fabric.switch0"
std::string sip(uint32_t s);                     ///< "sip0"
std::string cube(uint32_t s, uint32_t c);        ///< "sip0.cube3"
std::string io_chiplet(uint32_t s, uint32_t i);  ///< "sip0.io0"

// Of a cube, given its id.
std::string router(const std::string& cube, uint32_t row, uint32_t col);  ///< "sip0.cube3.r1c4"
std::string xbar(const std::string& cube, uint32_t pe);                   ///< "sip0.cube3.xbar.pe2"
std::string bridge(const std::string& cube, uint32_t i);                  ///< "sip0.cube3.bridge0"
std::string noc(const std::string& owner);                                ///< "sip0.cube3.noc", "sip0.io0.noc"
std::string hbm_ctrl(const std::string& cube, uint32_t pe);               ///< "sip0.cube3.hbm_ctrl.pe2"
std::string m_cpu(const std::string& cube);                               ///< "sip0.cube3.m_cpu"
std::string sram(const std::string& cube);                                ///< "sip0.cube3.sram"
std::string ucie(const std::string& cube, Side side);                     ///< "sip0.cube3.ucie-N"
std::string port(const std::string& owner, uint32_t i);                   ///< "sip0.cube3.port0", "sip0.io0.port0"
std::string pe(const std::string& cube, uint32_t pe);                     ///< "sip0.cube3.pe2"
std::string pe_block(const std::string& pe, const std::string& block);    ///< "sip0.cube3.pe2.pe_dma"

// Of an IO chiplet, given its id.
std::string pcie_ep(const std::string& io);                 ///< "sip0.io0.pcie_ep"
std::string io_cpu(const std::string& io);                  ///< "sip0.io0.io_cpu"
std::string io_ucie(const std::string& io, uint32_t port);  ///< "sip0.io0.ucie-P0"

/// Of a UCIe port of a cube or of an IO chiplet: "sip0.cube3.ucie-N.conn1".
std::string connection(const std::string& port, uint32_t i);

/// The position that an id implies; -1 where it implies none. "sip0.cube3.pe2.pe_dma" -> {0, 3, -1, 2}, "sip1.io0.noc"
/// -> {1, -1, 0, -1}.
struct Owner {
  int sip = -1, cube = -1, io = -1, pe = -1;
};
Owner owner_of(const std::string& id);

/// An id up to its last dot: a PE's cube, "sip0.cube3.pe2" -> "sip0.cube3". Empty without a dot.
std::string scope_of(const std::string& id);
/// An id up to its first dot, "sip0"; empty without a dot.
std::string outermost_scope_of(const std::string& id);

}  // namespace naming
}  // namespace kernbench::topology
