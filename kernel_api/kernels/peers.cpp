// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/peers.h"

#include <algorithm>

namespace kernbench::kernels {

Range range_of(const tl::View& v, int axis) {
  return v.empty() ? Range{} : Range{v.offset[axis], v.shape[axis]};
}

Range cut(const Range& a, const Range& b) {
  const int64_t first = std::max(a.first, b.first);
  return {first, std::max<int64_t>(0, std::min(a.end(), b.end()) - first)};
}

std::vector<ccl::Members> lanes_of(const LaunchShape& launch, const char* over) {
  return ccl::groups_of(launch, ccl::parse_axes(over), ccl::SamePlace::in_launch);
}

const ccl::Members& lane_with(const LaunchShape& launch, const char* over, int64_t pe) {
  return ccl::group_with(launch, ccl::parse_axes(over), pe, ccl::SamePlace::in_launch);
}

PesOfRank pes_of_rank(const LaunchShape& launch, int64_t index) {
  const ccl::Axes cube_and_pe = ccl::parse_axes("cube+pe");
  const ccl::Members& in_cube = ccl::group_with(launch, ccl::parse_axes("pe"), index);
  PesOfRank p;
  p.members = ccl::group_with(launch, cube_and_pe, index);
  p.pes = ccl::grid_of(launch, ccl::Axis::pe, in_cube);
  ccl::Members cubes;
  for (size_t i = 0; i < p.members.size(); i += in_cube.size()) cubes.push_back(p.members[i]);
  p.cubes = ccl::grid_of(launch, ccl::Axis::cube, cubes);
  return p;
}

Rings::Rings(const Params& p)
    : Rings(static_cast<uint32_t>(p.integer("slots")), static_cast<uint64_t>(p.integer("slot_bytes")),
            p.choice("tier")) {}

void Rings::join(int64_t a, const std::string& port, int64_t b, const std::string& peer_port) {
  all_.push_back({a, port, b, peer_port, slots_, slot_bytes_, tier_});
}

void Rings::join(const ccl::Members& m, const ccl::Wires& wires, const std::string& before_ports) {
  for (const ccl::Wire& w : wires)
    join(m[static_cast<size_t>(w.from)], before_ports + w.port, m[static_cast<size_t>(w.to)],
         before_ports + w.peer_port);
}

void Rings::join(const LaunchShape& launch, const Exchange& e) {
  for (const ccl::Members& m : lanes_of(launch, e.over))
    join(m, ccl::all_wiring(static_cast<int64_t>(m.size())), e.what);
}

std::vector<ParamSpec> ring_params(int64_t slots, int64_t slot_bytes) {
  return {ParamSpec::size("slots", slots, "slots of each ring").tuning(),
          ParamSpec::size("slot_bytes", slot_bytes, "size of a slot, a multiple of 64").tuning(),
          ParamSpec::choice("tier", {"tcm", "sram", "hbm"}, "memory of the rings").tuning()};
}

Peers::Peers(tl::Context& tl, const Exchange& e)
    : tl_(tl),
      what_(e.what),
      members_(lane_with(tl.launch(), e.over, tl.index())),
      me_(static_cast<size_t>(ccl::member_of(members_, tl.index()))) {}

}  // namespace kernbench::kernels
