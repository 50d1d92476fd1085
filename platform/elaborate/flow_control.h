// SPDX-License-Identifier: Apache-2.0
// What finite buffers ask of a platform, before the run.
#pragma once

#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/fabric/channel_layers.h"

namespace kernbench::elaborate {

/// How the system's virtual channels are divided. InputError where buffers are limited and messages might wait for each
/// other in a circle (channel_dependencies.h), unless `timing.prove_deadlock_free` is false.
ChannelLayers require_flow_control(const topology::Graph&, topology::PathRouter&);

}  // namespace kernbench::elaborate
