// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/platform/topology/graph/naming.h"

namespace kernbench::topology {
namespace {

using Key = std::pair<int, int>;

uint32_t find_in(const std::map<Key, uint32_t>& parts, const Key& key, const char* what, const char* where) {
  const auto it = parts.find(key);
  if (it != parts.end()) return it->second;
  throw ResolveError(fmt::format("no {} in sip{}.{}{}", what, key.first, where, key.second));
}

}  // namespace

AddressResolver::AddressResolver(const Graph& graph) : graph_(graph) {
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const std::string& kind = graph.nodes[n].kind;
    if (kind != "m_cpu" && kind != "io_cpu" && kind != "pcie_ep") continue;
    const naming::Owner o = naming::owner_of(graph.nodes[n].id);
    if (kind == "m_cpu") m_cpus_.emplace(Key{o.sip, o.cube}, n);
    // An io_cpu outside of any IO chiplet counts for the SIP's first one.
    if (kind == "io_cpu") io_cpus_.emplace(Key{o.sip, std::max(o.io, 0)}, n);
    if (kind == "pcie_ep") {
      endpoints_.emplace(Key{o.sip, std::max(o.io, 0)}, n);
      pcie_eps_.push_back(n);
    }
  }
  for (uint32_t p = 0; p < graph.pes.size(); ++p) {
    const naming::Owner o = naming::owner_of(graph.pes[p].id);
    const Key key{o.sip, o.cube};
    cube_of_pe_.push_back(key);
    if (pes_.count(key) == 0) cubes_.push_back(key);
    pes_[key].push_back(p);
  }
}

Resolved AddressResolver::resolve(uint64_t address) const {
  const Memory* m = graph_.memory_at(address);
  if (!m) throw ResolveError("no memory holds address " + std::to_string(address));
  return {m->node, m, address - m->base};
}

uint32_t AddressResolver::find_m_cpu(int sip, int cube) const {
  return find_in(m_cpus_, {sip, cube}, "m_cpu", "cube");
}
uint32_t AddressResolver::find_io_cpu(int sip, int io) const {
  return find_in(io_cpus_, {sip, io}, "io_cpu", "io");
}
uint32_t AddressResolver::find_pcie_ep(int sip, int io) const {
  return find_in(endpoints_, {sip, io}, "pcie_ep", "io");
}

std::vector<uint32_t> AddressResolver::find_all_pcie_eps(int sip) const {
  std::vector<uint32_t> eps;
  for (const uint32_t n : pcie_eps_)
    if (naming::owner_of(graph_.nodes[n].id).sip == sip) eps.push_back(n);
  return eps;
}

std::vector<int> AddressResolver::sips() const {
  std::vector<int> v;
  for (const Key& c : cubes_)
    if (std::find(v.begin(), v.end(), c.first) == v.end()) v.push_back(c.first);
  return v;
}

std::vector<std::pair<int, int>> AddressResolver::cubes() const {
  return cubes_;
}

std::vector<uint32_t> AddressResolver::pes_of_cube(int sip, int cube) const {
  const auto it = pes_.find({sip, cube});
  return it == pes_.end() ? std::vector<uint32_t>{} : it->second;
}

std::optional<uint32_t> AddressResolver::local_hbm_of_pe(uint32_t pe) const {
  const naming::Owner o = naming::owner_of(graph_.pes.at(pe).id);
  if (o.sip < 0 || o.cube < 0 || o.pe < 0) return std::nullopt;
  const auto it = graph_.index_of.find(naming::hbm_ctrl(
      naming::cube(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.cube)), static_cast<uint32_t>(o.pe)));
  return it == graph_.index_of.end() ? std::nullopt : std::optional<uint32_t>(it->second);
}

PathFinder::Measured PathFinder::find_path_with_distance(uint32_t a, uint32_t b) {
  return {no_command_.find_path(a, b), static_cast<double>(no_command_.distance_nm(a, b)) / 1e6};
}

std::vector<uint32_t> PathFinder::memory_path(uint32_t initiator, uint64_t address) {
  return no_command_.find_path(initiator, resolver_.resolve(address).node);
}

std::vector<uint32_t> PathFinder::m_cpu_dma_path(uint32_t m_cpu, uint64_t address) {
  return m_cpu_dma_.find_path(m_cpu, resolver_.resolve(address).node);
}

}  // namespace kernbench::topology
