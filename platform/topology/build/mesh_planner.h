// SPDX-License-Identifier: Apache-2.0
// Computes a cube's mesh (graph/mesh_plan.h) from its description.
#pragma once

#include <string>

#include "kernbench/platform/topology/graph/mesh_plan.h"

namespace kernbench::topology {

struct CubeSpec;

/// All inputs of a plan in one line: equal lines mean equal plans.
std::string mesh_key(const CubeSpec&);
/// The cube must have a mesh.
MeshPlan plan_mesh(const CubeSpec&);
/// Whether a loaded plan has the cube's routers and as many attachments as the cube needs. Builders rely on this; the
/// range of router numbers is checked elsewhere.
bool fits(const MeshPlan&, const CubeSpec&);

}  // namespace kernbench::topology
