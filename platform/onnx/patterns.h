// SPDX-License-Identifier: Apache-2.0
// Groups of nodes, as exporters leave them, that one kernel does: attention, norms, rotary embedding.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

/// What the planner has, and what is made here.
struct Patterns {
  // Given.
  std::deque<Op>* ops;                               ///< all of the graph, in order
  const std::map<const Value*, const Op*>* made_by;  ///< by what makes a value's bytes or another shape of them
  const std::set<const Value*>* kept;                ///< values that must be stored
  // Made: values and nodes of its own, which stay where they are.
  std::deque<Value>* values;
  std::deque<Node>* nodes;
  std::deque<Op> made;
  std::map<const Op*, const Op*> instead;    ///< by the last op of a group: what runs in its place
  std::map<const Op*, std::string> part_of;  ///< the others that nobody else needs: why they do not run
};

void find_patterns(Patterns*);

/// As a pattern's node has it, in halves: x [batch, heads, sequence, head] turned by cos and sin that broadcast to it;
/// attribute perm: x is seen transposed.
extern const OpRow kRotatedHalves;

}  // namespace kernbench::onnx
