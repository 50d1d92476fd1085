// SPDX-License-Identifier: Apache-2.0
// A cube: its fabric, then the attached blocks: HBM slices, M_CPU, SRAM, UCIe ports, PEs; and its memories' addresses.
#include <algorithm>
#include <cmath>

#include "kernbench/platform/topology/build/builders.h"
#include "kernbench/platform/topology/graph/address_map.h"

namespace kernbench::topology {
namespace {

/// A port node is slightly outside of the edge, so that no route inside the cube is shorter through a port.
constexpr double kPortDepthMm = 0.5;

class CubeBuilder {
 public:
  CubeBuilder(const CubeSpec& spec, const CubePlace& place, GraphBuilder& builder)
      : spec_(spec), place_(place), builder_(builder), id_(naming::cube(place.sip, place.cube)) {}

  CubePorts build() {
    const auto build_fabric = spec_.mesh ? build_mesh : spec_.crossbar ? build_crossbar : build_single;
    fabric_ = build_fabric(spec_, id_, place_.origin, builder_);
    add_hbm();
    if (spec_.m_cpu) {
      m_cpu_ = builder_.add_node(naming::m_cpu(id_), spec_.m_cpu->block, on_tray(spec_.m_cpu->at));
      link(m_cpu_, fabric_.m_cpu, spec_.fabric_to_m_cpu);
    }
    if (spec_.sram) add_sram();
    if (spec_.ucie) {
      for (int s = 0; s < kSides; ++s)
        if (spec_.ucie->ports[s]) add_port(static_cast<Side>(s));
    }
    for (uint32_t p = 0; p < spec_.pes; ++p) add_pe(p);
    for (uint32_t i = 0; i < spec_.ports.size(); ++i) add_foreign_port(i);
    return ports_;
  }

 private:
  const Position& position(uint32_t n) const { return *builder_.graph().nodes[n].position; }
  Position on_tray(Position on_cube) const {
    return {place_.origin.x_mm + on_cube.x_mm, place_.origin.y_mm + on_cube.y_mm};
  }
  void link(uint32_t a, uint32_t b, const LinkSpec& l) {
    builder_.add_link(a, b, l.properties(manhattan_mm(position(a), position(b))));
  }
  uint64_t address(uint64_t offset) const { return encode({place_.sip, place_.cube, offset}); }

  /// Attachment point of a PE and its slice.
  Position place_at_fabric(uint32_t pe) const {
    return spec_.mesh ? position(fabric_.pe[pe]) : place_of_pe(spec_, place_.origin, pe);
  }

  /// A slice's controller is beside its PE's router, on the side that the PE leaves free.
  void add_hbm() {
    for (uint32_t p = 0; p < spec_.pes; ++p) {
      const Position router = place_at_fabric(p), pe = centre_of_pe(p);
      const Position at{2 * router.x_mm - pe.x_mm, spec_.mesh ? 2 * router.y_mm - pe.y_mm : pe.y_mm};
      const uint32_t hbm = builder_.add_node(naming::hbm_ctrl(id_, p), spec_.hbm, at);
      builder_.add_link(hbm, fabric_.pe[p], spec_.fabric_to_hbm.properties());
      builder_.add_memory(hbm, "hbm", address(kHbmWindow + p * spec_.hbm_slice_bytes), spec_.hbm_slice_bytes,
                          spec_.hbm.line);
    }
  }

  void add_sram() {
    const uint32_t sram = builder_.add_node(naming::sram(id_), spec_.sram->block, on_tray(spec_.sram->at));
    link(sram, fabric_.sram, spec_.fabric_to_sram);
    builder_.add_memory(sram, "sram", address(kSramWindow), spec_.sram_bytes, spec_.sram->block.line);
  }

  /// Beside its router, crossbar or NoC.
  void add_foreign_port(uint32_t i) {
    const PortSpec& port = spec_.ports[i];
    const uint32_t to = port.router    ? builder_.find(naming::router(id_, port.router->row, port.router->col))
                        : port.pe >= 0 ? fabric_.pe[static_cast<size_t>(port.pe)]
                                       : builder_.find(naming::noc(id_));
    Position at = position(to);
    at.x_mm += 0.04 * spec_.size.x_mm;
    at.y_mm += 0.02 * spec_.size.y_mm * (i + 1);
    const uint32_t node = builder_.add_node(naming::port(id_, i), port.block, at);
    builder_.add_link(node, to, port.link.properties());
  }

  /// The middle of a side, `out` mm outside of the cube.
  Position on_side(Side s, double out) const {
    const Position middle{spec_.size.x_mm / 2, spec_.size.y_mm / 2};
    switch (s) {
      case Side::north:
        return on_tray({middle.x_mm, -out});
      case Side::south:
        return on_tray({middle.x_mm, spec_.size.y_mm + out});
      case Side::west:
        return on_tray({-out, middle.y_mm});
      case Side::east:
        break;
    }
    return on_tray({spec_.size.x_mm + out, middle.y_mm});
  }

  /// Connections are on the edge beside their routers, or evenly spaced if all belong to one NoC node.
  Position connection_place(Side s, uint32_t i) const {
    Position at = on_side(s, 0);
    const bool along_x = s == Side::north || s == Side::south;
    const Position attach = position(fabric_.ucie[static_cast<int>(s)][i]);
    const double share = (i + 0.5) / spec_.ucie->connections;
    if (along_x)
      at.x_mm = spec_.mesh ? attach.x_mm : place_.origin.x_mm + share * spec_.size.x_mm;
    else
      at.y_mm = spec_.mesh ? attach.y_mm : place_.origin.y_mm + share * spec_.size.y_mm;
    return at;
  }

  void add_port(Side s) {
    const std::string id = naming::ucie(id_, s);
    const uint32_t port = builder_.add_node(id, spec_.ucie->port, on_side(s, kPortDepthMm));
    ports_.ucie[static_cast<int>(s)] = port;
    for (uint32_t i = 0; i < spec_.ucie->connections; ++i) {
      const uint32_t c = builder_.add_node(naming::connection(id, i), spec_.ucie->connection, connection_place(s, i));
      link(c, fabric_.ucie[static_cast<int>(s)][i], spec_.fabric_to_ucie);
      link(c, port, spec_.ucie_to_port);
    }
  }

  double pitch_mm() const {
    return spec_.mesh ? std::min(spec_.size.x_mm / spec_.mesh->cols, spec_.size.y_mm / spec_.mesh->rows)
                      : spec_.size.x_mm / (spec_.pes + 1);
  }

  /// A PE is beside its router, towards the corner; several on one router are side by side. At a crossbar it is in the
  /// west and its HBM slice in the east.
  Position centre_of_pe(uint32_t p) const {
    const Position router = place_at_fabric(p);
    const Position middle = on_tray({spec_.size.x_mm / 2, spec_.size.y_mm / 2});
    const auto before = spec_.mesh ? std::count(fabric_.pe.begin(), fabric_.pe.begin() + p, fabric_.pe[p]) : 0;
    const double away = 0.3 * pitch_mm() * (1 + 0.7 * static_cast<double>(before));
    const double down = spec_.mesh ? 0.3 * pitch_mm() : 0.16 * spec_.size.y_mm;
    const double west = 0.24 * spec_.size.x_mm / ((spec_.pes + 1) / 2);
    return {router.x_mm + (spec_.mesh ? (router.x_mm < middle.x_mm ? -away : away) : -west),
            router.y_mm + (router.y_mm < middle.y_mm ? -down : down)};
  }

  void add_pe(uint32_t p) {
    const Position centre = centre_of_pe(p);
    const std::vector<uint32_t> blocks = build_pe(spec_.pe, naming::pe(id_, p), centre, pitch_mm(), builder_);
    for (size_t b = 0; b < blocks.size(); ++b) {
      const std::string& kind = spec_.pe.components[b].block.kind;
      if (kind == "pe_dma") builder_.add_link(blocks[b], fabric_.pe[p], spec_.pe_dma_to_fabric.properties());
      if (kind == "pe_cpu" && m_cpu_ != kNoNode)
        builder_.add_link(m_cpu_, blocks[b], spec_.m_cpu_to_pe_cpu.properties(manhattan_mm(position(m_cpu_), centre)));
    }
  }

  const CubeSpec& spec_;
  const CubePlace& place_;
  GraphBuilder& builder_;
  std::string id_;
  CubeFabric fabric_;
  uint32_t m_cpu_ = kNoNode;
  CubePorts ports_;
};

}  // namespace

double whole_nm(double mm) {
  return std::round(mm * 1e6) / 1e6;
}

double manhattan_mm(const Position& a, const Position& b) {
  return whole_nm(std::abs(a.x_mm - b.x_mm) + std::abs(a.y_mm - b.y_mm));
}

uint32_t spread(uint32_t i, uint32_t n, uint32_t count) {
  return std::min(count - 1, static_cast<uint32_t>((2 * uint64_t{i} + 1) * count / (2 * uint64_t{n})));
}

std::vector<uint32_t> build_pe(const PeTemplate& pe, const std::string& id, Position centre, double pitch_mm,
                               GraphBuilder& builder) {
  std::vector<uint32_t> nodes;
  const auto side = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(pe.components.size()))));
  const double step = 0.5 * pitch_mm / static_cast<double>(std::max<size_t>(side, 1));
  const double half = (static_cast<double>(side) - 1) / 2;
  for (size_t i = 0; i < pe.components.size(); ++i) {
    const Position at{centre.x_mm + (static_cast<double>(i % side) - half) * step,
                      centre.y_mm + (static_cast<double>(i / side) - half) * step};
    nodes.push_back(builder.add_node(naming::pe_block(id, pe.components[i].name), pe.components[i].block, at));
  }
  for (const PeLink& l : pe.links) {
    if (l.bidirectional)
      builder.add_link(nodes[l.from], nodes[l.to], l.properties, "cube.pe_template.links");
    else
      builder.add_edge(nodes[l.from], nodes[l.to], l.properties, "cube.pe_template.links");
  }
  return nodes;
}

CubePorts build_cube(const CubeSpec& spec, const CubePlace& place, GraphBuilder& builder) {
  return CubeBuilder(spec, place, builder).build();
}

}  // namespace kernbench::topology
