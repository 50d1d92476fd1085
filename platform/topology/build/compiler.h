// YAML -> Graph. Plain C++: no SystemC here.
#pragma once

#include <optional>
#include <string>

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Command-line overrides (--links, --response).
struct Overrides {
  std::optional<Links> links;
  std::optional<Response> response;
};

class MeshCache;

/// Compiles a hierarchical or a flat file. Unknown implementations and attributes are checked against the catalog. A
/// cache, where given, spares deriving a mesh that is kept there; the graph is the same with and without.
/// Throws TopologyError with every fault found.
Graph compile_file(const std::string& path, const ImplCatalog&, const Overrides& = {}, const MeshCache* = nullptr);
Graph compile_text(const std::string& yaml, const std::string& file_name, const ImplCatalog&, const Overrides& = {},
                   const MeshCache* = nullptr);

}  // namespace kernbench::topology
