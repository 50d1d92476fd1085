// SPDX-License-Identifier: Apache-2.0
// Checks and sets up finite buffers before the run.
#pragma once

#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/fabric/channel_layers.h"

namespace kernbench::elaborate {

/// Divides the system's virtual channels. InputError if buffers are limited and messages might wait for each other in a
/// circle (channel_dependencies.h), unless `timing.prove_deadlock_free` is false.
ChannelLayers require_flow_control(const topology::Graph&, topology::PathRouter&);

}  // namespace kernbench::elaborate
