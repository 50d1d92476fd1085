// SPDX-License-Identifier: Apache-2.0
// A cube whose NoC is one block, of kind noc or foreign, with links to the complete cube.
#include "kernbench/platform/topology/build/builders.h"

namespace kernbench::topology {

CubeFabric build_single(const CubeSpec& cube, const std::string& id, Position origin, GraphBuilder& builder) {
  const Position middle{origin.x_mm + cube.size.x_mm / 2, origin.y_mm + cube.size.y_mm / 2};
  const uint32_t noc = builder.add_node(naming::noc(id), *cube.single, middle);
  CubeFabric fabric;
  fabric.pe.assign(cube.pes, noc);
  fabric.attach_rest(cube, noc);
  return fabric;
}

}  // namespace kernbench::topology
