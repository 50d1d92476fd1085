// SPDX-License-Identifier: Apache-2.0
// IO chiplets, SIPs and the tray.
#include <fmt/format.h>

#include <algorithm>

#include "kernbench/platform/topology/build/builders.h"
#include "kernbench/platform/topology/graph/address_map.h"

namespace kernbench::topology {
namespace {

/// Width of an IO chiplet beside the cubes, and the gap to them.
double io_margin_mm(const SystemSpec& s, Side side) {
  const bool taken =
      std::any_of(s.sip.io.begin(), s.sip.io.end(), [&](const IoPlacement& p) { return p.side == side; });
  return taken ? s.io.depth_mm + s.sip.gap_mm + 1 : 0;
}

/// Cubes along a side of the grid, by id.
std::vector<uint32_t> shoreline(const SipSpec& sip, Side side) {
  std::vector<uint32_t> cubes;
  for (uint32_t c = 0; c < sip.w * sip.h; ++c) {
    const uint32_t row = c / sip.w, col = c % sip.w;
    const bool on_it = side == Side::north   ? row == 0
                       : side == Side::south ? row == sip.h - 1
                       : side == Side::west  ? col == 0
                                             : col == sip.w - 1;
    if (on_it) cubes.push_back(c);
  }
  return cubes;
}

class SipBuilder {
 public:
  SipBuilder(const SystemSpec& spec, uint32_t sip, Position origin, GraphBuilder& builder)
      : spec_(spec), sip_(sip), origin_(origin), builder_(builder) {}

  std::vector<uint32_t> build() {
    // IO chiplets come first: the order of the census (1 switch, then 23 and 16 x 134 per SIP).
    std::vector<uint32_t> endpoints;
    for (uint32_t i = 0; i < spec_.sip.io.size(); ++i) {
      io_.push_back(build_io_chiplet(spec_.io, place_of_io(i), builder_));
      endpoints.push_back(io_.back().pcie_ep);
    }
    for (uint32_t c = 0; c < spec_.sip.w * spec_.sip.h; ++c)
      cubes_.push_back(build_cube(spec_.cube, {sip_, c, origin_of_cube(c)}, builder_));
    link_neighbours();
    for (uint32_t i = 0; i < io_.size(); ++i) link_io(i);
    return endpoints;
  }

 private:
  Position origin_of_cube(uint32_t c) const {
    const uint32_t row = c / spec_.sip.w, col = c % spec_.sip.w;
    return {origin_.x_mm + io_margin_mm(spec_, Side::west) + col * (spec_.cube.size.x_mm + spec_.sip.gap_mm),
            origin_.y_mm + io_margin_mm(spec_, Side::north) + row * (spec_.cube.size.y_mm + spec_.sip.gap_mm)};
  }

  /// Shoreline cubes of chiplet i: those that earlier chiplets on the same side have left, one per port.
  std::vector<uint32_t> cubes_of_io(uint32_t i) const {
    const Side side = spec_.sip.io[i].side;
    std::vector<uint32_t> shore = shoreline(spec_.sip, side);
    size_t taken = 0;
    for (uint32_t k = 0; k < i; ++k)
      if (spec_.sip.io[k].side == side) taken += spec_.io.ports;
    shore.erase(shore.begin(), shore.begin() + static_cast<std::ptrdiff_t>(std::min(taken, shore.size())));
    if (shore.size() > spec_.io.ports) shore.resize(spec_.io.ports);
    return shore;
  }

  IoChipletPlace place_of_io(uint32_t i) const {
    IoChipletPlace place;
    place.sip = sip_;
    place.index = i;
    place.side = spec_.sip.io[i].side;
    std::vector<uint32_t> cubes = cubes_of_io(i);
    if (cubes.empty()) cubes = {0};
    const auto beside = [&](uint32_t c) {
      const Position o = origin_of_cube(c);
      const Position size = spec_.cube.size;
      const double out = spec_.sip.gap_mm;
      switch (place.side) {
        case Side::north:
          return Position{o.x_mm + size.x_mm / 2, o.y_mm - out};
        case Side::south:
          return Position{o.x_mm + size.x_mm / 2, o.y_mm + size.y_mm + out};
        case Side::west:
          return Position{o.x_mm - out, o.y_mm + size.y_mm / 2};
        case Side::east:
          break;
      }
      return Position{o.x_mm + size.x_mm + out, o.y_mm + size.y_mm / 2};
    };
    place.first = beside(cubes.front());
    place.last = beside(cubes.back());
    if (cubes.size() == 1) {  // with one cube, the ports share its side
      const bool along_x = place.side == Side::north || place.side == Side::south;
      const double half = 0.35 * (along_x ? spec_.cube.size.x_mm : spec_.cube.size.y_mm);
      (along_x ? place.first.x_mm : place.first.y_mm) -= half;
      (along_x ? place.last.x_mm : place.last.y_mm) += half;
    }
    return place;
  }

  void link(uint32_t a, uint32_t b, const LinkSpec& l) {
    const auto& nodes = builder_.graph().nodes;
    builder_.add_link(a, b, l.properties(manhattan_mm(*nodes[a].position, *nodes[b].position)));
  }

  void link_ports(uint32_t a, Side side, uint32_t b) {
    const uint32_t from = cubes_[a].ucie[static_cast<int>(side)];
    const uint32_t to = cubes_[b].ucie[static_cast<int>(opposite(side))];
    if (from != kNoNode && to != kNoNode) link(from, to, spec_.sip.ucie);
  }

  /// Horizontal links come first here too.
  void link_neighbours() {
    const uint32_t w = spec_.sip.w, n = w * spec_.sip.h;
    for (uint32_t c = 0; c < n; ++c)
      if (c % w + 1 < w) link_ports(c, Side::east, c + 1);
    for (uint32_t c = 0; c + w < n; ++c) link_ports(c, Side::south, c + w);
  }

  void link_io(uint32_t i) {
    const IoPlacement& io = spec_.sip.io[i];
    const std::vector<uint32_t> cubes = cubes_of_io(i);
    bool joined = false;
    for (size_t p = 0; p < cubes.size(); ++p) {
      const uint32_t port = cubes_[cubes[p]].ucie[static_cast<int>(io.side)];
      if (port == kNoNode) continue;
      link(io_[i].ports[p], port, spec_.sip.io_ucie);
      joined = true;
    }
    if (!joined && sip_ == 0)
      builder_.faults().add(io.line, fmt::format("sip.io_chiplets[{}].side", i),
                            std::string("found '") + letter_of(io.side) +
                                "', where no cube has a free UCIe port; legal: a side with one (cube.ucie.ports)");
  }

  const SystemSpec& spec_;
  uint32_t sip_;
  Position origin_;
  GraphBuilder& builder_;
  std::vector<IoChipletNodes> io_;
  std::vector<CubePorts> cubes_;
};

/// Links between neighbours in x, then in y. A ring of two, or a wrap across two, would duplicate a link.
void link_sips(const TraySpec& tray, const std::vector<uint32_t>& endpoints, GraphBuilder& builder) {
  const auto link = [&](uint32_t a, uint32_t b) {
    const auto& nodes = builder.graph().nodes;
    const double mm = manhattan_mm(*nodes[endpoints[a]].position, *nodes[endpoints[b]].position);
    builder.add_link(endpoints[a], endpoints[b], tray.pcie_ep_to_pcie_ep.properties(mm));
  };
  if (tray.shape == SipShape::ring_1d) {
    for (uint32_t s = 0; s + 1 < tray.sips; ++s) link(s, s + 1);
    if (tray.sips > 2) link(tray.sips - 1, 0);
    return;
  }
  const bool wrap = tray.shape == SipShape::torus_2d;
  for (uint32_t y = 0; y < tray.h; ++y) {
    for (uint32_t x = 0; x + 1 < tray.w; ++x) link(y * tray.w + x, y * tray.w + x + 1);
    if (wrap && tray.w > 2) link(y * tray.w + tray.w - 1, y * tray.w);
  }
  for (uint32_t x = 0; x < tray.w; ++x) {
    for (uint32_t y = 0; y + 1 < tray.h; ++y) link(y * tray.w + x, (y + 1) * tray.w + x);
    if (wrap && tray.h > 2) link((tray.h - 1) * tray.w + x, x);
  }
}

}  // namespace

Position size_of_sip(const SystemSpec& s) {
  return {s.sip.w * (s.cube.size.x_mm + s.sip.gap_mm) - s.sip.gap_mm + io_margin_mm(s, Side::west) +
              io_margin_mm(s, Side::east),
          s.sip.h * (s.cube.size.y_mm + s.sip.gap_mm) - s.sip.gap_mm + io_margin_mm(s, Side::north) +
              io_margin_mm(s, Side::south)};
}

IoChipletNodes build_io_chiplet(const IoChipletSpec& spec, const IoChipletPlace& place, GraphBuilder& builder) {
  const std::string id = naming::io_chiplet(place.sip, place.index);
  const bool along_x = place.side == Side::north || place.side == Side::south;
  const double outward = place.side == Side::north || place.side == Side::west ? -1 : 1;
  // `along`: 0 to 1 on the line of ports; `out`: mm away from the cubes.
  const auto at = [&](double along, double out) {
    Position p{place.first.x_mm + along * (place.last.x_mm - place.first.x_mm),
               place.first.y_mm + along * (place.last.y_mm - place.first.y_mm)};
    (along_x ? p.y_mm : p.x_mm) += outward * out;
    return p;
  };
  IoChipletNodes io;
  // Endpoint and CPU on both sides of the NoC.
  const auto aside = [&](double mm, double out) {
    Position p = at(0.5, out * spec.depth_mm);
    (along_x ? p.x_mm : p.y_mm) += mm;
    return p;
  };
  io.pcie_ep = builder.add_node(naming::pcie_ep(id), spec.pcie_ep, along_x ? aside(-2.5, 0.85) : aside(-2.2, 0.65));
  const uint32_t cpu = builder.add_node(naming::io_cpu(id), spec.io_cpu, along_x ? aside(2.5, 0.85) : aside(2.2, 0.65));
  const uint32_t noc = builder.add_node(naming::noc(id), spec.noc, aside(0, along_x ? 0.55 : 0.65));
  const auto link = [&](uint32_t a, uint32_t b, const LinkSpec& l) {
    const auto& nodes = builder.graph().nodes;
    builder.add_link(a, b, l.properties(manhattan_mm(*nodes[a].position, *nodes[b].position)));
  };
  link(io.pcie_ep, noc, spec.pcie_ep_to_noc);
  link(cpu, noc, spec.io_cpu_to_noc);
  for (uint32_t p = 0; p < spec.ports; ++p) {
    const std::string port_id = naming::io_ucie(id, p);
    const double along = spec.ports == 1 ? 0.5 : p / (spec.ports - 1.0);
    io.ports.push_back(builder.add_node(port_id, spec.port, at(along, 0.1 * spec.depth_mm)));
    for (uint32_t c = 0; c < spec.connections; ++c) {
      const double off = ((c + 0.5) / spec.connections - 0.5) * 0.6 / spec.ports;
      const uint32_t node =
          builder.add_node(naming::connection(port_id, c), spec.connection, at(along + off, 0.28 * spec.depth_mm));
      link(noc, node, spec.noc_to_ucie);
      link(node, io.ports.back(), spec.ucie_to_port);
    }
  }
  for (uint32_t i = 0; i < spec.foreign_ports.size(); ++i) {
    const PortSpec& port = spec.foreign_ports[i];
    const uint32_t node = builder.add_node(naming::port(id, i), port.block, aside(0.6 * (i + 1), 0.95));
    builder.add_link(node, noc, port.link.properties());
  }
  return io;
}

std::vector<uint32_t> build_sip(const SystemSpec& spec, uint32_t sip, Position origin, GraphBuilder& builder) {
  return SipBuilder(spec, sip, origin, builder).build();
}

void build_system(const SystemSpec& spec, GraphBuilder& builder) {
  const uint64_t cubes = uint64_t{spec.tray.sips} * spec.sip.w * spec.sip.h;
  builder.reserve(cubes * spec.cube.nodes(), 4 * cubes * spec.cube.nodes());
  const Position size = size_of_sip(spec);
  uint32_t pcie_switch = kNoNode;
  if (spec.tray.pcie_switch) {
    const double width = spec.tray.w * (size.x_mm + spec.tray.gap_mm) - spec.tray.gap_mm;
    const double height = spec.tray.h * (size.y_mm + spec.tray.gap_mm) - spec.tray.gap_mm;
    pcie_switch = builder.add_node(naming::pcie_switch(0), *spec.tray.pcie_switch,
                                   Position{width / 2, height + spec.tray.gap_mm / 2});
  }
  std::vector<uint32_t> first_endpoints;
  for (uint32_t s = 0; s < spec.tray.sips; ++s) {
    const Position origin{(s % spec.tray.w) * (size.x_mm + spec.tray.gap_mm),
                          (s / spec.tray.w) * (size.y_mm + spec.tray.gap_mm)};
    const std::vector<uint32_t> endpoints = build_sip(spec, s, origin, builder);
    if (!endpoints.empty()) first_endpoints.push_back(endpoints.front());
    for (const uint32_t ep : endpoints) {
      if (pcie_switch == kNoNode) continue;
      const auto& nodes = builder.graph().nodes;
      builder.add_link(
          ep, pcie_switch,
          spec.tray.pcie_ep_to_switch.properties(manhattan_mm(*nodes[ep].position, *nodes[pcie_switch].position)));
    }
  }
  if (spec.tray.shape != SipShape::none) link_sips(spec.tray, first_endpoints, builder);
}

}  // namespace kernbench::topology
