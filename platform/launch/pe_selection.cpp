#include "kernbench/platform/launch/pe_selection.h"

#include <algorithm>
#include <map>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"

namespace kernbench {
namespace {

std::vector<std::string> split(const std::string& s, char by) {
  std::vector<std::string> v;
  for (size_t from = 0; from <= s.size();) {
    const size_t end = std::min(s.find(by, from), s.size());
    v.push_back(s.substr(from, end - from));
    from = end + 1;
  }
  return v;
}

}  // namespace

std::vector<size_t> choose_pes(Machine& machine, const std::string& pes, const std::string& device) {
  const auto& all = machine.graph().pes;
  std::string sip;
  if (device != "all") {
    if (device.compare(0, 4, "sip:") != 0 || device.size() == 4 ||
        device.find_first_not_of("0123456789", 4) != std::string::npos)
      throw InputError("--device: found '" + device + "', expected all or sip:N");
    sip = "sip" + device.substr(4) + ".";
  }
  std::vector<size_t> chosen;
  if (pes == "all") {
    for (size_t p = 0; p < all.size(); ++p) {
      if (machine.pes().complete(p) && all[p].id.compare(0, sip.size(), sip) == 0) chosen.push_back(p);
    }
  } else {
    for (const std::string& id : split(pes, ',')) {
      const auto it = std::find_if(all.begin(), all.end(), [&](const topology::Pe& pe) { return pe.id == id; });
      if (it == all.end())
        throw InputError("--pes: found '" + id + "', expected all or ids of PEs" +
                         (all.empty() ? std::string() : " such as " + all.front().id));
      const auto p = static_cast<size_t>(it - all.begin());
      if (!machine.pes().complete(p)) throw InputError("--pes: " + id + " has no " + machine.pes().missing_blocks(p));
      if (id.compare(0, sip.size(), sip) != 0)
        throw InputError("--pes: " + id + " is not on the device of --device " + device);
      chosen.push_back(p);
    }
    std::sort(chosen.begin(), chosen.end());
    if (std::adjacent_find(chosen.begin(), chosen.end()) != chosen.end())
      throw InputError("--pes: a PE stands twice in '" + pes + "'");
  }
  if (chosen.empty()) {
    throw InputError(sip.empty() ? "the topology has no PE with all blocks that a kernel needs"
                                 : "--device: found '" + device + "', and the topology has no PE there");
  }
  return chosen;
}

namespace {

/// "sip0" of "sip0.cube1.pe2"; "" where there is no dot.
std::string sip_of(const std::string& pe) {
  const size_t dot = pe.find('.');
  return dot == std::string::npos ? std::string() : pe.substr(0, dot);
}

std::string cube_of(const std::string& pe) {
  const size_t dot = pe.rfind('.');
  return dot == std::string::npos ? std::string() : pe.substr(0, dot);
}

/// Numbers the names of a level in the order in which they come.
class Numbers {
 public:
  int64_t of(const std::string& name) { return numbers_.emplace(name, static_cast<int64_t>(numbers_.size())).first->second; }
  int64_t count() const { return static_cast<int64_t>(numbers_.size()); }

 private:
  std::map<std::string, int64_t> numbers_;
};

/// Of a hierarchy of SIPs, cubes in them and PEs in those: each level by the place above it.
struct Levels {
  Numbers sips;
  std::map<std::string, Numbers> cubes, pes;

  LaunchShape::Place add(const std::string& pe) {
    LaunchShape::Place p;
    p.rank = sips.of(sip_of(pe));
    p.cube = cubes[sip_of(pe)].of(cube_of(pe));
    p.pe = pes[cube_of(pe)].of(pe);
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
    shape->pes_of_cube = std::max(shape->pes_of_cube, all.pes[cube_of(id)].count());
    shape->cubes.w = std::max(shape->cubes.w, all.cubes[sip_of(id)].count());
  }
  shape->ranks.w = all.sips.count();
  const topology::Floor& floor = machine.graph().floor;
  if (floor.cubes_w > 0) {
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

}  // namespace kernbench
