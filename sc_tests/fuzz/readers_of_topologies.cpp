// SPDX-License-Identifier: Apache-2.0
// Topologies, and cached meshes of them.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/build/mesh_cache.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::fuzz {
namespace {

namespace fs = std::filesystem;

std::string text_of(const topology::Graph& graph) {
  std::ostringstream out;
  topology::print_json(graph, out);
  return out.str();
}

/// Lines "#set TARGET=VALUE", which are not part of YAML: settings on top of the file.
topology::Overrides settings_of(const std::string& input) {
  topology::Overrides o;
  std::istringstream in(input);
  for (std::string line; std::getline(in, line);) {
    const size_t equals = line.find('=');
    if (line.compare(0, 5, "#set ") == 0 && equals != std::string::npos)
      o.settings.emplace_back(line.substr(5, equals - 5), line.substr(equals + 1));
  }
  return o;
}

std::string read_topology(const std::string& input) {
  try {
    return text_of(topology::compile_text(input, "t.yaml", component_catalog(), settings_of(input)));
  } catch (const topology::TopologyError& e) {
    throw Refused(e.what());
  }
}

/// A folder with only the mesh of one_cube.yaml.
struct MeshFolder {
  MeshFolder() {
    std::string name = (fs::temp_directory_path() / "kernbench_fuzz_mesh-XXXXXX").string();
    folder = mkdtemp(name.data());
    expected = compiled();
    for (const auto& entry : fs::directory_iterator(folder)) file = entry.path().string();
  }
  ~MeshFolder() { fs::remove_all(folder); }
  std::string compiled() const {
    const topology::MeshCache cache(folder);
    return text_of(topology::compile_file(KERNBENCH_TOPOLOGIES "/one_cube.yaml", component_catalog(), {}, &cache));
  }
  std::string folder, file, expected;
};

/// An unusable file is created anew. A usable one may name other routers, if they exist: checksums detect damage, not
/// intent.
std::string read_mesh(const std::string& input) {
  static const MeshFolder mesh;
  std::ofstream(mesh.file, std::ios::binary) << input;
  try {
    const std::string text = mesh.compiled();
    std::ifstream in(mesh.file, std::ios::binary);
    const std::string now{std::istreambuf_iterator<char>(in), {}};
    if (now == input) return text;
    if (text != mesh.expected) throw std::logic_error("a mesh that was made anew is another");
    throw Refused("made anew");
  } catch (const topology::TopologyError& e) {
    throw Refused(e.what());
  }
}

}  // namespace

std::vector<FuzzedReader> readers_of_topologies() {
  return {{"mesh_cache", read_mesh, mutate_mesh_cache}, {"topology", read_topology, mutate_text}};
}

}  // namespace kernbench::fuzz
