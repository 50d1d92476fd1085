// SPDX-License-Identifier: Apache-2.0
// Finds the owner of an address and the parts of a system (ADR-0051) by ids in the form of naming.h. Ids of a flat
// topology may have that form; others belong to SIP -1, cube -1.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::topology {

/// An address without memory, or a missing part of the system. The message names both.
class ResolveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Resolved {
  uint32_t node = 0;  ///< the memory's controller
  const Memory* memory = nullptr;
  uint64_t offset = 0;  ///< bytes from the memory's base
};

class AddressResolver {
 public:
  explicit AddressResolver(const Graph&);

  /// Owner of an address. ResolveError if none.
  Resolved resolve(uint64_t address) const;
  /// The m_cpu of a cube; the io_cpu and the pcie_ep of a SIP's IO chiplet (io0 launches). ResolveError if there is
  /// none.
  uint32_t find_m_cpu(int sip, int cube) const;
  uint32_t find_io_cpu(int sip, int io = 0) const;
  uint32_t find_pcie_ep(int sip, int io = 0) const;
  /// All endpoints of the system, in compiled order; those of one SIP.
  const std::vector<uint32_t>& find_all_pcie_eps() const { return pcie_eps_; }
  std::vector<uint32_t> find_all_pcie_eps(int sip) const;

  /// SIPs and cubes with at least one PE, in compiled order of their first PE.
  std::vector<int> sips() const;
  std::vector<std::pair<int, int>> cubes() const;
  /// Of Graph::pes, by index: (sip, cube).
  std::pair<int, int> cube_of_pe(uint32_t pe) const { return cube_of_pe_.at(pe); }
  /// Indices into Graph::pes.
  std::vector<uint32_t> pes_of_cube(int sip, int cube) const;
  /// The controller named after a PE ("sip0.cube3.hbm_ctrl.pe2" for "sip0.cube3.pe2"), if there is one.
  std::optional<uint32_t> local_hbm_of_pe(uint32_t pe) const;

 private:
  const Graph& graph_;
  std::map<std::pair<int, int>, uint32_t> m_cpus_, io_cpus_, endpoints_;  // by (sip, cube or io)
  std::map<std::pair<int, int>, std::vector<uint32_t>> pes_;
  std::vector<uint32_t> pcie_eps_;
  std::vector<std::pair<int, int>> cube_of_pe_, cubes_;
};

/// Paths by purpose (ADR-0051), each on its graph, as lists of edges. RouteError or ResolveError if there is none.
class PathFinder {
 public:
  explicit PathFinder(const Graph& g)
      : resolver_(g),
        all_(g),
        no_command_(g, EdgeSet::no_command),
        m_cpu_dma_(g, EdgeSet::m_cpu_dma),
        local_(g, EdgeSet::local) {}
  const AddressResolver& resolver() const { return resolver_; }

  struct Measured {
    std::vector<uint32_t> path;
    double distance_mm = 0;
  };
  /// Between any nodes, including command edges: launch legs.
  std::vector<uint32_t> node_path(uint32_t a, uint32_t b) { return all_.find_path(a, b); }
  /// Without command edges, and with its length.
  std::vector<uint32_t> find_path(uint32_t a, uint32_t b) { return no_command_.find_path(a, b); }
  Measured find_path_with_distance(uint32_t a, uint32_t b);
  /// From an initiator to the memory of an address.
  std::vector<uint32_t> memory_path(uint32_t initiator, uint64_t address);
  /// For M_CPU's own DMA: never through a PE.
  std::vector<uint32_t> m_cpu_dma_path(uint32_t m_cpu, uint64_t address);
  /// Without UCIe and PCIe: RouteError if the ends are in different cubes.
  std::vector<uint32_t> local_path(uint32_t a, uint32_t b) { return local_.find_path(a, b); }

 private:
  AddressResolver resolver_;
  PathRouter all_, no_command_, m_cpu_dma_, local_;
};

}  // namespace kernbench::topology
