// Which probe cases a topology has: derived from its ids and distances.
#include <algorithm>
#include <limits>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/probe.h"

namespace kernbench {

namespace {

std::string parent(const std::string& id) {
  const size_t dot = id.rfind('.');
  return dot == std::string::npos ? std::string() : id.substr(0, dot);
}

bool inside(const std::string& id, const std::string& scope) {
  return scope.empty() ||
         (id.compare(0, scope.size(), scope) == 0 && id.size() > scope.size() && id[scope.size()] == '.');
}

class CaseFinder {
 public:
  explicit CaseFinder(Platform& platform) : platform_(platform), graph_(platform.graph()) {}

  std::vector<ProbeCase> find() {
    if (!graph_.pes.empty()) pe_cases();
    const size_t reads = cases_.size();
    for (size_t i = 0; i < reads; ++i) add(cases_[i].name + "-write", cases_[i].initiator, cases_[i].memory, true);
    host_cases();
    return std::move(cases_);
  }

 private:
  /// The first PE that reaches HBM; none does: the first.
  void pe_cases() {
    size_t local = graph_.memories.size();
    for (size_t p = 0; p < graph_.pes.size() && local == graph_.memories.size(); ++p) {
      try {
        local = platform_.pes().local_memory(p);
        pe_ = p;
      } catch (const std::runtime_error&) {
      }
    }
    const topology::Pe& pe = graph_.pes[pe_];
    const uint32_t dma = pe.blocks.at("pe_dma");
    const std::string cube = parent(pe.id);
    if (local < graph_.memories.size()) slice_cases(dma, cube, local);
    const std::vector<size_t> srams = memories(cube, "sram");
    if (!srams.empty()) add("pe-local-sram", dma, srams[0], false);
    other_cubes(dma, cube);
  }

  void slice_cases(uint32_t dma, const std::string& cube, size_t local) {
    add("pe-local-hbm", dma, local, false);
    const std::vector<size_t> slices = memories(cube, "hbm");
    const auto here = std::find(slices.begin(), slices.end(), local);
    if (here != slices.end() && slices.size() > 1) {
      const size_t at = static_cast<size_t>(here - slices.begin());
      const size_t half = slices.size() / 2;
      if (half > 1) add("pe-same-half-hbm", dma, slices[at / half * half + (at + 1) % half], false);
      add("pe-cross-half-hbm", dma, slices[(at + half) % slices.size()], false);
    }
  }

  /// The first slice of the other cubes: of the nearest and of the farthest in the SIP, and of another SIP.
  void other_cubes(uint32_t dma, const std::string& cube) {
    const std::string sip = parent(cube);
    const size_t none = graph_.memories.size();
    int64_t nearest = std::numeric_limits<int64_t>::max(), farthest = -1;
    size_t adjacent = none, far = none, other_sip = none;
    std::string last_cube;
    for (size_t m = 0; m < none; ++m) {
      if (graph_.memories[m].space != "hbm") continue;
      const std::string other = cube_of(m);
      if (other == cube || other == last_cube || other.empty()) continue;
      last_cube = other;
      if (!platform_.routes().paths().has_path(dma, graph_.memories[m].node)) continue;
      if (!sip.empty() && parent(other) != sip) {
        if (other_sip == none) other_sip = m;
        continue;
      }
      const int64_t nm = platform_.routes().paths().distance_nm(dma, graph_.memories[m].node);
      if (nm < nearest) {
        nearest = nm;
        adjacent = m;
      }
      if (nm > farthest) {
        farthest = nm;
        far = m;
      }
    }
    if (adjacent < none) add("pe-adjacent-cube-hbm", dma, adjacent, false);
    if (far < none && far != adjacent) add("pe-farthest-cube-hbm", dma, far, false);
    if (other_sip < none) add("pe-other-sip-hbm", dma, other_sip, false);
  }

  void host_cases() {
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].kind != "pcie_ep") continue;
      const std::string& id = graph_.nodes[n].id;
      const std::string sip = id.find('.') == std::string::npos ? std::string() : id.substr(0, id.find('.'));
      for (size_t m = 0; m < graph_.memories.size(); ++m) {
        const topology::Memory& memory = graph_.memories[m];
        if (memory.space != "hbm" || !inside(graph_.nodes[memory.node].id, sip) ||
            !platform_.routes().paths().has_path(n, memory.node))
          continue;
        add("h2d-write", n, m, true);
        add("d2h-read", n, m, false);
        return;
      }
    }
  }

  void add(const std::string& name, uint32_t initiator, size_t memory, bool write) {
    const topology::Memory& m = graph_.memories[memory];
    try {
      platform_.routes().route(initiator, m.base, 1, write);
    } catch (const AccessError&) {
      return;  // one-way topologies have no such case
    }
    const std::string& id = graph_.nodes[initiator].id;
    cases_.push_back({name,
                      (graph_.nodes[initiator].kind == "pe_dma" ? parent(id) : id) + " -> " + graph_.nodes[m.node].id,
                      initiator, static_cast<uint32_t>(memory), write});
  }

  std::vector<size_t> memories(const std::string& scope, const char* space) const {
    std::vector<size_t> v;
    for (size_t m = 0; m < graph_.memories.size(); ++m) {
      if (graph_.memories[m].space == space && inside(graph_.nodes[graph_.memories[m].node].id, scope)) v.push_back(m);
    }
    return v;
  }

  /// "sip0.cube3" of "sip0.cube3.hbm_ctrl.pe2": as deep as the PE's cube.
  std::string cube_of(size_t memory) const {
    const std::string& id = graph_.nodes[graph_.memories[memory].node].id;
    const std::string cube = parent(graph_.pes[pe_].id);
    size_t end = 0;
    for (auto depth = std::count(cube.begin(), cube.end(), '.') + 1; depth > 0; --depth) {
      end = id.find('.', end ? end + 1 : 0);
      if (end == std::string::npos) return {};
    }
    return id.substr(0, end);
  }

  Platform& platform_;
  const topology::Graph& graph_;
  size_t pe_ = 0;  // whose cases they are
  std::vector<ProbeCase> cases_;
};

}  // namespace

std::vector<ProbeCase> probe_cases(Platform& platform) {
  return CaseFinder(platform).find();
}

}  // namespace kernbench
