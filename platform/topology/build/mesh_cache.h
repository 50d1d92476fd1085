// SPDX-License-Identifier: Apache-2.0
// Mesh plans kept in files from one run to the next, one file a description. A cache never changes a result: a file
// that is missing, truncated, damaged or of another description is not used, the plan is made anew and the file is
// replaced; where nothing can be written, nothing is kept.
#pragma once

#include <string>

#include "kernbench/platform/topology/graph/mesh_plan.h"

namespace kernbench::topology {

struct CubeSpec;

class MeshCache {
 public:
  /// `folder` is made when something is kept; "" keeps nothing.
  explicit MeshCache(std::string folder);

  /// The plan of the cube's mesh, from its file or made. Any number of processes may share a folder: files are written
  /// aside and renamed.
  MeshPlan plan(const CubeSpec&) const;
  /// Where the plan of that mesh is kept.
  std::string file_of(const CubeSpec&) const;

 private:
  void keep(const CubeSpec&, const MeshPlan&) const;

  std::string folder_;
};

/// $KERNBENCH_CACHE, where "off" keeps nothing; else $XDG_CACHE_HOME/kernbench, else $HOME/.cache/kernbench; "" where
/// none of them is set. By the XDG base directory specification a relative path counts as not set.
std::string default_cache_folder();

}  // namespace kernbench::topology
