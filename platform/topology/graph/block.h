// SPDX-License-Identifier: Apache-2.0
// Properties of a node and of a link as read from a file.
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

/// kind, impl, attrs and facts of a node, or of a template's block.
struct Block {
  std::string kind;
  std::string impl;
  bool transit = false;
  bool initiator = false;
  std::string space;  ///< of the memory in nodes of its kind, or none
  Attributes attrs;
  int line = 0;
};

/// A link's properties without its ends.
struct LinkProperties {
  std::string kind = "link";
  double distance_mm = 0;
  std::optional<double> bw_gbs;
  int line = 0;
};

}  // namespace kernbench::topology
