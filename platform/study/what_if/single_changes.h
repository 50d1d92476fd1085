// SPDX-License-Identifier: Apache-2.0
// Single changes that a user could make to a run, for `kernbench whatif --remedies`:
// - an attribute of the machine's blocks, an edge's bandwidth, a part of --scale, a number of the topology file;
// - the launch, the addressing of tensors, the PEs that run the kernel;
// - a parameter that changes how the kernel computes, not its result (tile sizes, algorithms);
// - another kernel with the same tensors and results; a model's parallelism.
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
  std::string name;                                     ///< the attribute, the edge's kind, the part or the parameter
  const ImplSpec* impl = nullptr;                       ///< the attribute's class
  const AttrSpec* attribute = nullptr;                  ///< the attribute's declaration
  std::shared_ptr<const std::set<std::string>> blocks;  ///< all blocks of the impl
  double factor = 0;   ///< 2 or 0.5; 0: another choice, or the most common value of the kind
  bool worse = false;  ///< of an attribute: the declaration says that this direction is worse
  /// For a change that gives all nodes of a kind the most common value: the nodes that had another. `ratio`: smallest
  /// to largest number, 0 for texts.
  std::vector<std::string> unlike;
  double ratio = 0;
  CostClass cost = CostClass::hardware;
  /// "--param tile_m=64", in shell syntax.
  std::string words() const;
  /// Whether it is a factor; again() applies that factor once more.
  bool repeats() const { return factor != 0 && of_what != Of::pes && of_what != Of::spread; }
  SingleChange again() const;
  /// The run with the change: a parameter replaces the run's value; --set and --scale are appended. Another kernel
  /// keeps the parameters that it has too.
  spec::RunSpec of(spec::RunSpec) const;
};

/// Numbers: twice and half. Named values: each other one. Values must be legal by themselves; the run reports illegal
/// combinations. An attribute that differs between nodes of a kind: the most common value for all. `graph` belongs to
/// the run, `yaml` is the text of its file. Only parameters that change how a kernel computes, not its result.
std::vector<SingleChange> single_changes(const topology::Graph&, const ImplCatalog&, const spec::RunSpec&,
                                         const std::string& yaml);

}  // namespace kernbench::study
