// SPDX-License-Identifier: Apache-2.0
// Compiles YAML to a Graph. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Version of the topology file format, key `version`; default 1 (docs/stability.md).
constexpr uint64_t kTopologyVersion = 1;

/// A value that overrides the file. `target` is NODE-GLOB.ATTR; or edge:GLOB.bw_gbs (or distance_mm), where GLOB
/// matches an edge's kind or "FROM->TO"; or file:KEY.KEY, a key of the file (docs/topology.md). The value is YAML.
struct Setting {
  std::string target, value;
  Setting(std::string where, std::string what) : target(std::move(where)), value(std::move(what)) {}
  Setting(std::string where, const char* what) : Setting(std::move(where), std::string(what)) {}
  Setting(std::string where, double what) : Setting(std::move(where), number_text(what)) {}
  Setting(std::string where, int what) : Setting(std::move(where), std::to_string(what)) {}
  Setting(std::string where, bool what) : Setting(std::move(where), what ? "true" : "false") {}
};

/// Overrides of the file (--links, --response, --set).
struct Overrides {
  std::optional<Links> links;
  std::optional<Response> response;
  std::optional<Materialize> materialize;
  std::vector<Setting> settings;  ///< in order: the last one counts
};

class MeshCache;

/// Compiles a hierarchical or a flat file. Implementations and attributes are checked against the catalog. A cache
/// stores derived meshes; it does not change the graph. TopologyError with all errors.
Graph compile_file(const std::string& path, const ImplCatalog&, const Overrides& = {}, const MeshCache* = nullptr);
Graph compile_text(const std::string& yaml, const std::string& file_name, const ImplCatalog&, const Overrides& = {},
                   const MeshCache* = nullptr);

}  // namespace kernbench::topology
