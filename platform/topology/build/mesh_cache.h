// SPDX-License-Identifier: Apache-2.0
// Caches mesh plans in files between runs, one file per description. The cache never changes a result. A file that is
// missing, truncated, damaged or of another description is ignored and replaced. If files cannot be written, nothing is
// cached.
#pragma once

#include <string>

#include "kernbench/platform/topology/graph/mesh_plan.h"

namespace kernbench::topology {

struct CubeSpec;

class MeshCache {
 public:
  /// `folder` is created when a plan is stored; "" disables the cache.
  explicit MeshCache(std::string folder);

  /// The plan of the cube's mesh, read from its file or computed. Any number of processes may share a folder, because
  /// files are written under another name and renamed.
  MeshPlan plan(const CubeSpec&) const;
  /// The file of that mesh's plan.
  std::string file_of(const CubeSpec&) const;

 private:
  void keep(const CubeSpec&, const MeshPlan&) const;

  std::string folder_;
};

/// $KERNBENCH_CACHE ("off" disables the cache), else $XDG_CACHE_HOME/kernbench, else $HOME/.cache/kernbench; "" if none
/// is set. As in the XDG base directory specification, a relative path counts as unset.
std::string default_cache_folder();

}  // namespace kernbench::topology
