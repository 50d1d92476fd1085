// SPDX-License-Identifier: Apache-2.0
// The resource (systemc_models/core/bottleneck.h) of a machine's nodes, edges and attributes.
#pragma once

#include <optional>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/attributes.h"

namespace kernbench::insight {

using kernbench::kLimits;
using kernbench::kResources;
using kernbench::Limit;
using kernbench::Resource;

/// The resource of an edge's bandwidth.
Resource resource_of(const topology::Graph&, const topology::Edge&);
/// The resource of a node's overhead, as its kind declares it.
Resource resource_of(const topology::Node&);
/// The resource whose time an attribute of the node changes; none: not declared.
std::optional<Resource> resource_of(const AttrSpec&, const topology::Node&);

}  // namespace kernbench::insight
