// SPDX-License-Identifier: Apache-2.0
// What a file says of a node and of a link, before they stand in a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernbench/systemc_models/core/attributes.h"

namespace kernbench::topology {

constexpr uint32_t kNoNode = 0xffffffffu;
constexpr uint64_t kMostNodes = 4'000'000;
constexpr double kMostDistanceMm = 1e6;  ///< a kilometre; sums over a path stay exact in 64-bit nanometres
constexpr double kMostBandwidthGbs = 1e9;

/// kind, impl, attrs and facts of a node, or of many alike (a template's block).
struct Block {
  std::string kind;
  std::string impl;
  bool transit = false;
  bool initiator = false;
  std::string space;  ///< of the memory that nodes of its kind hold, or none
  Attributes attrs;
  int line = 0;
};

/// What a link is, its ends apart.
struct LinkProperties {
  std::string kind = "link";
  double distance_mm = 0;
  std::optional<double> bw_gbs;
  int line = 0;
};

}  // namespace kernbench::topology
