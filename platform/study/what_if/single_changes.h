// SPDX-License-Identifier: Apache-2.0
// Changes of one thing each that a user could make to a run: of an attribute of the machine's blocks, of an edge's
// bandwidth, of a part that --scale names, of how the run is launched and addresses its tensors, of a parameter of the
// kernel that changes how it computes, not what (tile sizes, algorithms), of a model's parallelism, of a number of the
// file, of the kernel where another one makes the same of the same tensors, of the PEs that run it. What `kernbench
// whatif --remedies` tries.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::study {

struct SingleChange {
  std::vector<std::pair<std::string, std::string>> options;  ///< of `run`: {"param", "tile_m=64"}
  enum class Of { attribute, edge, part, launch, parameter, address, kernel, pes, spread, file };
  Of of_what = Of::attribute;
  std::string name;                                     ///< of the attribute, the edge's kind, the part, the parameter
  const ImplSpec* impl = nullptr;                       ///< of an attribute
  const AttrSpec* attribute = nullptr;                  ///< what its class declares
  std::shared_ptr<const std::set<std::string>> blocks;  ///< all of the impl
  double factor = 0;   ///< 2 or 0.5; 0: another choice, or as most nodes of the kind have it
  bool worse = false;  ///< of an attribute: the wrong way, by what its class declares
  /// Where it makes all nodes of a kind what most are: those that are not, and the least of the numbers over the
  /// greatest, 0 for texts.
  std::vector<std::string> unlike;
  double ratio = 0;
  CostClass cost = CostClass::hardware;
  /// "--param tile_m=64", for a shell.
  std::string words() const;
  /// Whether it multiplies numbers by a factor, and the same by that factor once more.
  bool repeats() const { return factor != 0 && of_what != Of::pes && of_what != Of::spread; }
  SingleChange again() const;
  /// The run with it: a parameter in the place of its own of that name, --set and --scale behind those that it has;
  /// another kernel with those of its parameters that it knows.
  spec::RunSpec of(spec::RunSpec) const;
};

/// Numbers twice and half, named values each of the others, as far as they are legal by themselves: what does not go
/// together a run tells. An attribute that differs between nodes of one kind: all as most of them have it. The graph is
/// the run's, `yaml` the text of its file. Of parameters those that change how a kernel computes, not what.
std::vector<SingleChange> single_changes(const topology::Graph&, const ImplCatalog&, const spec::RunSpec&,
                                         const std::string& yaml);

}  // namespace kernbench::study
