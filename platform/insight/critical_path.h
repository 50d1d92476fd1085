// SPDX-License-Identifier: Apache-2.0
// A run's critical path: from the end of the run back to its begin, it follows each event's last dependency. The path
// covers every instant exactly once, so the blame sums to the run's time.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernbench/platform/insight/run_graph.h"

namespace kernbench::insight {

/// A segment of the path. Times in ns.
struct PathStep {
  double from_ns = 0, to_ns = 0;
  Resource resource = Resource::other;
  bool is_edge = false;
  uint32_t index = CostPart::kNobody;  ///< of the edge or node
  OpNumber op = 0;                     ///< the op that it belongs to; 0: none
  double ns() const { return to_ns - from_ns; }
};

struct CriticalPath {
  std::vector<PathStep> steps;                     ///< in order of time, without gaps
  std::vector<std::pair<double, Moment>> moments;  ///< events on it, with their times
  std::array<bool, kLimits> limits{};              ///< by Limit: whether something on the path waited because of it
};
/// From the graph's begin to the event `end`. Among dependencies that are done at one instant the first is used.
CriticalPath critical_path(const RunGraph&, Moment end);

/// Time on the path by resource, component, line, PE and launch, ns. Each list sums to the run's time and is sorted in
/// descending order.
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
  std::array<std::string, kResources> line_of{};  ///< the source line with most of a class's blame; or ""
  std::vector<Holder> by_component;               ///< by component and resource
  std::vector<Share> by_line;                     ///< "gemm.cpp:42", or "" for time outside of ops
  struct Number {
    uint32_t number = 0;
    double ns = 0;
  };
  std::vector<Number> by_pe, by_launch;  ///< of the op; kNoPe, kNoLaunch for time without one
};
Blame blame(const RunGraph&, const std::vector<PathStep>&);

/// "sip0.cube0.r0c0->sip0.cube0.hbm0", the node's id, or "" for none.
std::string holder_name(const topology::Graph&, bool is_edge, uint32_t index);

}  // namespace kernbench::insight
