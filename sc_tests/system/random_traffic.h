// SPDX-License-Identifier: Apache-2.0
// Random flat topologies with requests, as plain values: inputs of both the project and the naive model.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kernbench::testing {

struct FlatNode {
  std::string id, kind, impl;
  bool transit = false, store_and_forward = false;
  double overhead_ns = 0, efficiency = 1;
  int rd_engines = 1, wr_engines = 1;  ///< pe_dma, m_cpu
  int outstanding = 0;                 ///< pcie_ep; 0: unlimited
  int pseudo_channels = 0;             ///< 0: one FIFO server
  uint64_t interleave = 0;
  double pc_bw = 0;
  bool hash = false;
  uint64_t burst = 1;
};
struct FlatEdge {
  int from = 0, to = 0;
  double mm = 0, bw = 0;  ///< bw 0: none
};
struct FlatMemory {
  int node = 0;
  uint64_t base = 0, size = 0;
};
struct FlatSystem {
  bool cut_through = false, routed = false;
  double header_bytes = 0, ns_per_mm = 0.01;
  std::vector<FlatNode> nodes;
  std::vector<FlatEdge> edges;  ///< as compiled: a two-way link is two, the forward one first
  std::vector<bool> one_way;    ///< per edge
  std::vector<FlatMemory> memories;
  std::string yaml() const;
};
struct FlatRequest {
  double issue_ns = 0;
  int initiator = 0;
  bool write = false;
  uint64_t address = 0, bytes = 0;
};

struct RandomOptions {
  bool cut_through = false, routed = false;
  bool ties = false;  ///< few distinct delays, sizes and issue times, so that many events coincide
};

FlatSystem random_system(std::mt19937_64&, const RandomOptions&);
std::vector<FlatRequest> random_requests(std::mt19937_64&, const FlatSystem&, const RandomOptions&, size_t count);

}  // namespace kernbench::testing
