// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/groups.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "kernbench/kernel_api/params.h"

namespace kernbench::ccl {
namespace {

using Key = std::tuple<int64_t, int64_t, int64_t>;

Key place_of(const LaunchShape::Place& p, SamePlace places) {
  return places == SamePlace::in_launch ? Key{p.rank, p.cube, p.pe} : Key{p.rank_place, p.cube_place, p.pe_place};
}

/// The common coordinates of all members of a PE's group; -1 on the axes in which they differ.
Key common(const LaunchShape::Place& p, Axes over, SamePlace places) {
  const auto [rank, cube, pe] = place_of(p, places);
  return {over.rank ? -1 : rank, over.cube ? -1 : cube, over.pe ? -1 : pe};
}

void sort_members(const LaunchShape& launch, SamePlace places, Members* members) {
  const auto place = [&](int64_t i) { return place_of(launch.pes[static_cast<size_t>(i)], places); };
  std::sort(members->begin(), members->end(), [&](int64_t a, int64_t b) { return place(a) < place(b); });
}

}  // namespace

const char* name_of(Axis a) {
  return a == Axis::pe ? "pe" : a == Axis::cube ? "cube" : "rank";
}

bool Axes::has(Axis a) const {
  return a == Axis::pe ? pe : a == Axis::cube ? cube : rank;
}

Axes parse_axes(const std::string& over) {
  Axes axes;
  for (size_t at = 0; at <= over.size();) {
    const size_t end = std::min(over.find('+', at), over.size());
    const std::string word = over.substr(at, end - at);
    bool* axis = word == "pe" ? &axes.pe : word == "cube" ? &axes.cube : word == "rank" ? &axes.rank : nullptr;
    if (axis == nullptr || *axis)
      throw BadParam("over: found '" + over + "', expected some of rank, cube and pe, joined by +");
    *axis = true;
    at = end + 1;
  }
  return axes;
}

std::vector<Members> groups_of(const LaunchShape& launch, Axes over, SamePlace places) {
  std::map<Key, Members> by_key;
  for (size_t i = 0; i < launch.pes.size(); ++i)
    by_key[common(launch.pes[i], over, places)].push_back(static_cast<int64_t>(i));
  std::vector<Members> groups;
  for (auto& [key, members] : by_key) {
    sort_members(launch, places, &members);
    groups.push_back(std::move(members));
  }
  std::sort(groups.begin(), groups.end(), [](const Members& a, const Members& b) { return a.front() < b.front(); });
  for (const Members& g : groups) {
    if (g.size() == groups.front().size()) continue;
    const auto told = [&](const Members& m) {
      return std::to_string(m.size()) + " PEs with " + launch.pes[static_cast<size_t>(m.front())].id;
    };
    const std::string which =
        places == SamePlace::in_machine ? "over: the launch's groups differ" : "cubes and ranks of the launch differ";
    throw BadParam(which + " in size: " + told(groups.front()) + ", " + told(g));
  }
  return groups;
}

const Members& group_with(const LaunchShape& launch, Axes over, int64_t pe, SamePlace places) {
  struct Groups {
    std::vector<Members> all;
    std::vector<size_t> of_pe;
  };
  const std::string axes = {over.rank ? 'r' : '-', over.cube ? 'c' : '-', over.pe ? 'p' : '-',
                            places == SamePlace::in_launch ? 'l' : 'm'};
  const Groups& groups = launch.memo.get<Groups>("groups " + axes, [&] {
    Groups made{groups_of(launch, over, places), std::vector<size_t>(launch.pes.size())};
    for (size_t g = 0; g < made.all.size(); ++g) {
      for (const int64_t member : made.all[g]) made.of_pe[static_cast<size_t>(member)] = g;
    }
    return made;
  });
  return groups.all[groups.of_pe.at(static_cast<size_t>(pe))];
}

int64_t member_of(const Members& members, int64_t pe) {
  return std::find(members.begin(), members.end(), pe) - members.begin();
}

}  // namespace kernbench::ccl
