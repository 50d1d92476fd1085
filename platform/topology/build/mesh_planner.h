// A cube's mesh (graph/mesh_plan.h) from its description.
#pragma once

#include <string>

#include "kernbench/platform/topology/graph/mesh_plan.h"

namespace kernbench::topology {

struct CubeSpec;

/// Everything that a plan depends on, in one line: equal lines mean equal plans.
std::string mesh_key(const CubeSpec&);
/// The cube must have a mesh.
MeshPlan plan_mesh(const CubeSpec&);

}  // namespace kernbench::topology
