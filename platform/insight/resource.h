// SPDX-License-Identifier: Apache-2.0
// Which resource (systemc_models/core/bottleneck.h) the nodes, edges and attributes of a machine belong to.
#pragma once

#include <optional>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/attributes.h"

namespace kernbench::insight {

using kernbench::kLimits;
using kernbench::kResources;
using kernbench::Limit;
using kernbench::Resource;

/// Whose bandwidth an edge's is.
Resource resource_of(const topology::Graph&, const topology::Edge&);
/// Whose a node's overhead is: what its kind declares.
Resource resource_of(const topology::Node&);
/// Whose time an attribute of the node changes; none: it declares none.
std::optional<Resource> resource_of(const AttrSpec&, const topology::Node&);

}  // namespace kernbench::insight
