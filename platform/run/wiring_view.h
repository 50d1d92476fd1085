// SPDX-License-Identifier: Apache-2.0
// A picture of which PEs a kernel's queues join, by which ports: `kernbench run --wiring`.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/queue_connection.h"

namespace kernbench {

/// As SVG. PEs stand as collectives count them (collectives rules §12.2): in grids in their cubes, these in their
/// SIPs, these on the tray; in a flat topology in rows.
void write_wiring_svg(std::ostream&, const std::string& title, const LaunchShape&, const std::vector<QueueConnection>&);

}  // namespace kernbench
