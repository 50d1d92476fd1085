// SPDX-License-Identifier: Apache-2.0
// A run's critical path: the chain of what each moment waited for last, from the end of the run back to its begin.
// Every instant of the run is on it once, so the blame sums to the run's time.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernbench/platform/insight/run_graph.h"

namespace kernbench::insight {

/// A piece of the path. ns.
struct PathStep {
  double from_ns = 0, to_ns = 0;
  Resource resource = Resource::other;
  bool is_edge = false;
  uint32_t index = CostPart::kNobody;  ///< of the edge or node
  OpNumber op = 0;                     ///< for which it was; 0: none
  double ns() const { return to_ns - from_ns; }
};

struct CriticalPath {
  std::vector<PathStep> steps;                     ///< in order of time, without gaps
  std::vector<std::pair<double, Moment>> moments;  ///< on it, with their times
  std::array<bool, kLimits> limits{};              ///< by Limit: something on it waited because of that
};
/// From the graph's begin to the moment `end`. Of causes that came at one instant the first counts.
CriticalPath critical_path(const RunGraph&, Moment end);

/// Time of the path by what took it, ns; each list sums to the run's time and begins with the most.
struct Blame {
  struct Share {
    std::string name;
    double ns = 0;
  };
  struct Holder {
    Resource resource = Resource::other;
    bool is_edge = false;
    uint32_t index = CostPart::kNobody;
    double ns = 0;
  };
  std::array<double, kResources> by_resource{};
  std::array<std::string, kResources> line_of{};  ///< the line with most of a class's blame; or ""
  std::vector<Holder> by_component;               ///< and resource
  std::vector<Share> by_line;                     ///< "gemm.cpp:42", or "" for what is of no op
  struct Number {
    uint32_t number = 0;
    double ns = 0;
  };
  std::vector<Number> by_pe, by_launch;  ///< of the op; kNoPe, kNoLaunch for what is of none
};
Blame blame(const RunGraph&, const std::vector<PathStep>&);

/// "sip0.cube0.r0c0->sip0.cube0.hbm0", the node's id, or "" for nobody.
std::string holder_name(const topology::Graph&, bool is_edge, uint32_t index);

}  // namespace kernbench::insight
