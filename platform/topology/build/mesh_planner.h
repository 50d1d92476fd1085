// SPDX-License-Identifier: Apache-2.0
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
/// Whether a plan from outside has the cube's routers, and as many attachments as the cube asks for: all that who
/// builds from it relies on, but that its numbers are of routers.
bool fits(const MeshPlan&, const CubeSpec&);

}  // namespace kernbench::topology
