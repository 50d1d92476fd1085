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

std::vector<tl::Program> programs_of(Machine& machine, const std::vector<size_t>& pes) {
  std::map<uint32_t, int64_t> in_cube;  // launched PEs by cube
  for (size_t p : pes) ++in_cube[machine.pes().pe(p).cube];
  std::map<uint32_t, int64_t> seen;
  std::vector<tl::Program> v;
  for (size_t p : pes) {
    const uint32_t cube = machine.pes().pe(p).cube;
    tl::Program program;
    program.pe = seen[cube]++;
    program.pes = in_cube[cube];
    program.cube = std::distance(in_cube.begin(), in_cube.find(cube));
    program.cubes = static_cast<int64_t>(in_cube.size());
    program.rank = static_cast<int64_t>(v.size());
    program.ranks = static_cast<int64_t>(pes.size());
    v.push_back(program);
  }
  return v;
}

}  // namespace kernbench
