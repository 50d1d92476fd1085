// YAML -> Graph. Plain C++: no SystemC here.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/platform/topology/graph.h"

namespace kernbench::topology {

/// Where in the YAML something stands, for messages. Line from 1; 0 where unknown.
struct SourcePos {
  std::string file;
  int line = 0;
};

/// One fault of a topology file. what(): "file:line: field: what was found; what is legal".
struct Fault {
  SourcePos where;
  std::string field;
  std::string message;
  std::string to_string() const;
};

/// All faults of a file at once.
class TopologyError : public std::runtime_error {
 public:
  explicit TopologyError(std::vector<Fault>);
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

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
