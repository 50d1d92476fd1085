// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/pe_selection.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/topology/graph/naming.h"

namespace kernbench::launch {
namespace {

// Ids without a dot form one rank and one cube.
using topology::naming::outermost_scope_of;
using topology::naming::scope_of;

/// Numbers the names of a level by first appearance.
class Numbers {
 public:
  int64_t of(const std::string& name) {
    return numbers_.emplace(name, static_cast<int64_t>(numbers_.size())).first->second;
  }
  int64_t count() const { return static_cast<int64_t>(numbers_.size()); }

 private:
  std::map<std::string, int64_t> numbers_;
};

size_t to_number(const std::string& text, const std::string& all) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    throw InputError("--ranks: found '" + all + "', expected all, a number of SIPs, or SIPs by their numbers: i,j,...");
  return std::stoul(text);
}

/// Keeps the PEs of the SIPs that --ranks names; only SIPs of `chosen` count.
void leave_ranks(Machine& machine, const std::string& ranks, std::vector<size_t>& chosen) {
  if (ranks == "all") return;
  const auto& all = machine.graph().pes;
  Numbers sips;
  for (const size_t p : chosen) sips.of(outermost_scope_of(all[p].id));
  std::vector<bool> named(static_cast<size_t>(sips.count()), ranks.find(',') == std::string::npos);
  const auto beyond = [&](const std::string& what) {
    throw InputError("--ranks: found '" + ranks + "': " + what + ", there are " + std::to_string(sips.count()) +
                     " SIPs with PEs to choose from");
  };
  if (named.empty()) return;
  if (ranks.find(',') == std::string::npos) {
    const size_t n = to_number(ranks, ranks);
    if (n == 0) beyond("no rank");
    if (n > named.size()) beyond(ranks + " ranks");
    std::fill(named.begin() + static_cast<std::ptrdiff_t>(n), named.end(), false);
  } else {
    const std::string list = ranks.back() == ',' ? ranks.substr(0, ranks.size() - 1) : ranks;  // "1," is a list of one
    for (const std::string& text : parts_between(',', list)) {
      const size_t n = to_number(text, ranks);
      if (n >= named.size()) beyond("SIP " + text);
      if (named[n]) beyond("SIP " + text + " stands there twice");
      named[n] = true;
    }
  }
  const auto left_out = [&](size_t p) { return !named[static_cast<size_t>(sips.of(outermost_scope_of(all[p].id)))]; };
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(), left_out), chosen.end());
}

/// Keeps the first PE of every cube.
void leave_leaders(Machine& machine, std::vector<size_t>& chosen) {
  std::set<uint32_t> cubes;
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                              [&](size_t p) { return !cubes.insert(machine.pes().pe(p).cube).second; }),
               chosen.end());
}

std::vector<size_t> pes_by_id(Machine& machine, const PeChoice& choice) {
  const std::string& pes = choice.pes;
  const std::string asked = choice.asked_as + ": ";
  const auto& all = machine.graph().pes;
  std::vector<size_t> chosen;
  for (const std::string& id : parts_between(',', pes)) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const topology::Pe& pe) { return pe.id == id; });
    if (it == all.end())
      throw InputError(asked + "found '" + id + "', expected all, leaders or ids of PEs" +
                       (all.empty() ? std::string() : " such as " + all.front().id));
    const auto p = static_cast<size_t>(it - all.begin());
    if (!machine.pes().complete(p)) throw InputError(asked + id + " has no " + machine.pes().missing_blocks(p));
    chosen.push_back(p);
  }
  std::sort(chosen.begin(), chosen.end());
  if (std::adjacent_find(chosen.begin(), chosen.end()) != chosen.end())
    throw InputError(asked + "a PE stands twice in '" + pes + "'");
  return chosen;
}

/// Common prefix of the ids of a device's PEs.
std::string device_prefix(const std::string& device) {
  if (device == "all") return {};
  if (device.compare(0, 4, "sip:") != 0 || device.size() == 4 ||
      device.find_first_not_of("0123456789", 4) != std::string::npos)
    throw InputError("--device: found '" + device + "', expected all or sip:N");
  return "sip" + device.substr(4) + ".";
}

}  // namespace

std::vector<size_t> choose_pes(Machine& machine, const PeChoice& choice) {
  const auto& all = machine.graph().pes;
  const std::string sip = device_prefix(choice.device);
  std::vector<size_t> chosen;
  for (size_t p = 0; p < all.size(); ++p) {
    if (machine.pes().complete(p) && all[p].id.compare(0, sip.size(), sip) == 0) chosen.push_back(p);
  }
  leave_ranks(machine, choice.ranks, chosen);
  if (choice.pes == "leaders") leave_leaders(machine, chosen);
  if (choice.pes != "all" && choice.pes != "leaders") {
    const std::vector<size_t> there = std::move(chosen);
    chosen = pes_by_id(machine, choice);
    for (const size_t p : chosen) {
      if (all[p].id.compare(0, sip.size(), sip) != 0)
        throw InputError(choice.asked_as + ": " + all[p].id + " is not on the device of --device " + choice.device);
      if (!std::binary_search(there.begin(), there.end(), p))
        throw InputError(choice.asked_as + ": " + all[p].id + " is on none of the SIPs of --ranks " + choice.ranks);
    }
  }
  if (chosen.empty()) {
    throw InputError(sip.empty() ? "the topology has no PE with all blocks that a kernel needs"
                                 : "--device: found '" + choice.device + "', and the topology has no PE there");
  }
  return chosen;
}

std::vector<uint32_t> ranks_of(Machine& machine, const std::vector<size_t>& pes) {
  Numbers sips;
  std::vector<uint32_t> ranks;
  for (const size_t p : pes)
    ranks.push_back(static_cast<uint32_t>(sips.of(outermost_scope_of(machine.graph().pes[p].id))));
  return ranks;
}

namespace {

/// Hierarchy of SIPs, cubes and PEs; each level is numbered within its parent.
struct Levels {
  Numbers sips;
  std::map<std::string, Numbers> cubes, pes;

  LaunchShape::Place add(const std::string& pe) {
    LaunchShape::Place p;
    p.rank = sips.of(outermost_scope_of(pe));
    p.cube = cubes[outermost_scope_of(pe)].of(scope_of(pe));
    p.pe = pes[scope_of(pe)].of(pe);
    return p;
  }
};

}  // namespace

std::shared_ptr<const LaunchShape> launch_shape(Machine& machine, const std::vector<size_t>& pes) {
  auto shape = std::make_shared<LaunchShape>();
  Levels all, launched;
  std::vector<LaunchShape::Place> places;
  for (size_t p = 0; p < machine.pes().count(); ++p) places.push_back(all.add(machine.pes().pe(p).id));
  for (const size_t p : pes) {
    const std::string& id = machine.pes().pe(p).id;
    LaunchShape::Place place = launched.add(id);
    place.pe_place = places[p].pe;
    place.cube_place = places[p].cube;
    place.rank_place = places[p].rank;
    place.id = id;
    shape->pes.push_back(std::move(place));
    shape->pes_of_cube = std::max(shape->pes_of_cube, all.pes[scope_of(id)].count());
    shape->cubes.w = std::max(shape->cubes.w, all.cubes[outermost_scope_of(id)].count());
  }
  shape->ranks.w = all.sips.count();
  const topology::Floor& floor = machine.graph().floor;
  shape->flat = floor.cubes_w == 0;
  if (!shape->flat) {
    shape->cubes = {floor.cubes_w, floor.cubes_h};
    shape->ranks = {floor.sips_w, floor.sips_h};
    shape->tray = floor.tray_shape;
  }
  return shape;
}

std::vector<tl::Program> programs_of(Machine& machine, const std::vector<size_t>& pes) {
  const auto shape = launch_shape(machine, pes);
  std::map<std::pair<int64_t, int64_t>, int64_t> pes_of;  // by rank and cube
  std::map<int64_t, int64_t> cubes_of;                    // by rank
  for (const LaunchShape::Place& p : shape->pes) {
    ++pes_of[{p.rank, p.cube}];
    cubes_of[p.rank] = std::max(cubes_of[p.rank], p.cube + 1);
  }
  std::vector<tl::Program> v;
  for (const LaunchShape::Place& p : shape->pes) {
    tl::Program program;
    program.pe = p.pe;
    program.pes = pes_of[{p.rank, p.cube}];
    program.cube = p.cube;
    program.cubes = cubes_of[p.rank];
    program.rank = p.rank;
    program.ranks = static_cast<int64_t>(cubes_of.size());
    program.index = static_cast<int64_t>(v.size());
    program.size = static_cast<int64_t>(pes.size());
    program.launch = shape;
    v.push_back(program);
  }
  return v;
}

}  // namespace kernbench::launch
