// What finite buffers ask of a platform, before the run.
#pragma once

#include "kernbench/platform/elaborate/elaboration.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench {

/// InputError where buffers are limited and a router is a class of one's own or a block on the way is foreign, which
/// keep no credits, or where messages might wait for each other in a circle (channel_dependencies.h).
void require_flow_control(const topology::Graph&, const Elaboration&, topology::PathRouter&);

}  // namespace kernbench
