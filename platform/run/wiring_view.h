// SPDX-License-Identifier: Apache-2.0
// A diagram of a kernel's queue connections between PEs, with port names: `kernbench run --wiring`.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/queue_connection.h"

namespace kernbench {

/// SVG. PEs are placed by the coordinates of collectives (collectives rules §12.2): grids of PEs in cubes, of cubes in
/// SIPs, of SIPs on the tray. A flat topology has rows.
void write_wiring_svg(std::ostream&, const std::string& title, const LaunchShape&, const std::vector<QueueConnection>&);

}  // namespace kernbench
