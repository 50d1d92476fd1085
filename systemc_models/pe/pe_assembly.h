// Makes a PE of its blocks: each is given its role, told its PE and bound to its neighbours, and the PE is given who
// runs kernels on it. A platform does so with the blocks of a topology; by hand:
//
//   Pe pe;
//   PeParts parts;
//   parts.add("pe_cpu", cpu); …
//   assemble(pe, parts, parts.standard_edges(), system);
//
// A PE of this project's blocks alone: processing_element.h.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/core/impl_catalog.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench {

class Component;
class System;

/// From and to: who hands on to whom, or asks whom.
using PeEdges = std::vector<std::pair<Component*, Component*>>;

/// The blocks of one PE, by the kind as which each is there.
class PeParts {
 public:
  struct Part {
    std::string_view kind;
    Component* block = nullptr;
    std::string_view impl;  ///< the name of its class, for messages
  };
  /// At most one of a kind. The names outlive the parts.
  void add(std::string_view kind, Component& block, std::string_view impl = {}) {
    parts_.push_back({kind, &block, impl});
  }
  const std::vector<Part>& all() const { return parts_; }
  /// Null where there is none.
  const Part* of_kind(std::string_view kind) const;
  const Part& of(const Component& block) const;
  /// Those between the blocks that it has (PeKindEdges).
  PeEdges standard_edges() const;
  PeEdges bound_without_edge() const;

 private:
  PeEdges between(const PeKindEdges::Pairs&) const;
  std::vector<Part> parts_;
};

/// Fills in the PE's blocks, and its runner where it has all that a kernel needs; who and where it is (id, index,
/// order, cube) is said before. Blocks are bound along the edges, and where they must be without one (PeKindEdges), as
/// far as they have the sockets for it; along standard edges they must. Those of `elsewhere` are left to who calls:
/// blocks of somebody else's stand between them. InputError, one line, where a class lacks what its kind must have
/// (roles.h, pe_block.h).
void assemble(Pe&, const PeParts&, const PeEdges&, System&, const PeEdges& elsewhere = {});

/// "pe_gemm, pe_tcm": kinds without which a PE runs no kernels.
std::string missing_for_kernels(const PeParts&);

}  // namespace kernbench
