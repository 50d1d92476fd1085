// SPDX-License-Identifier: Apache-2.0
// Finds groups of nodes, as exporters emit them, that one kernel can run: attention, norms, rotary embedding.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

/// Input and result of the pattern search.
struct Patterns {
  // Inputs:
  std::deque<Op>* ops;                               ///< all ops of the graph, in order
  const std::map<const Value*, const Op*>* made_by;  ///< the op that makes a value's bytes, possibly in another shape
  const std::set<const Value*>* kept;                ///< values that must be stored
  // Results: new values and nodes. Their addresses stay valid.
  std::deque<Value>* values;
  std::deque<Node>* nodes;
  std::deque<Op> made;
  std::map<const Op*, const Op*> instead;    ///< keyed by the last op of a group: the op that replaces it
  std::map<const Op*, std::string> part_of;  ///< the group's other ops that nothing else needs, and why they do not run
};

void find_patterns(Patterns*);

/// A pattern's rotary embedding in halves: x [batch, heads, sequence, head] is rotated by cos and sin that broadcast to
/// it. Attribute perm: x is read transposed.
extern const OpRow kRotatedHalves;

}  // namespace kernbench::onnx
