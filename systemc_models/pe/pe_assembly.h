// SPDX-License-Identifier: Apache-2.0
// Assembles a PE from its blocks: each block gets its role and its PE and is bound to its neighbours; the PE gets a
// runner of kernels. A platform does this with the blocks of a topology. By hand:
//
//   Pe pe;
//   PeParts parts;
//   parts.add("pe_cpu", cpu); …
//   assemble(pe, parts, parts.standard_edges(), system);
//
// processing_element.h is a PE of this project's blocks only.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/core/impl_catalog.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench::core {
class Component;
}
namespace kernbench::memory {
class System;
}

namespace kernbench::pe {

/// Pairs (from, to): from sends items to, or queries, to.
using PeEdges = std::vector<std::pair<Component*, Component*>>;

/// The blocks of one PE, by kind.
class PeParts {
 public:
  struct Part {
    std::string_view kind;
    Component* block = nullptr;
    std::string_view impl;  ///< name of its class, for messages
  };
  /// At most one block of each kind. The names must outlive the parts.
  void add(std::string_view kind, Component& block, std::string_view impl = {}) {
    parts_.push_back({kind, &block, impl});
  }
  const std::vector<Part>& all() const { return parts_; }
  /// Null if there is none.
  const Part* of_kind(std::string_view kind) const;
  const Part& of(const Component& block) const;
  /// The standard edges between the contained blocks (PeKindEdges).
  PeEdges standard_edges() const;
  PeEdges bound_without_edge() const;

 private:
  PeEdges between(const PeKindEdges::Pairs&) const;
  std::vector<Part> parts_;
};

/// Fills in the PE's blocks, and its runner if it has all blocks that a kernel needs. The PE's identity and position
/// (id, index, order, cube) must be set before. Blocks are bound along the edges, and without an edge where required
/// (PeKindEdges), if they have the sockets; along standard edges they must have them. The caller binds the edges of
/// `elsewhere`, where foreign blocks are in between. InputError, with one line, if a class lacks an interface of its
/// kind (roles.h, pe_block.h).
void assemble(Pe&, const PeParts&, const PeEdges&, System&, const PeEdges& elsewhere = {});

/// "pe_gemm, pe_tcm": missing kinds that a PE needs to run kernels.
std::string missing_for_kernels(const PeParts&);

}  // namespace kernbench::pe
