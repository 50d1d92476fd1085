// SPDX-License-Identifier: Apache-2.0
// Nodes that become one launch: what works position by position is done in the tiles of the node before it, so that the
// value between them is neither stored nor loaded.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

struct Linear;

/// A node's kernel, and what follows in its tiles.
struct Launch {
  const Op* op = nullptr;
  /// In order: each has an `each` row, and reads a value of the op or of a follower before it.
  std::vector<const Op*> followers;
  /// By a kernel of models, which does the followers too (linear.h); null: by the op's own.
  std::shared_ptr<const Linear> linear;

  const Op& last() const { return followers.empty() ? *op : *followers.back(); }
  /// A tensor of the launch by the name that its kernel knows it by (Pe).
  struct Operand {
    std::string name;
    const Value* value;
  };
  /// Those with elements: the op's own, and of its followers what is made outside.
  std::vector<Operand> inputs() const;
  /// Of the last follower, else of the op: those with elements.
  std::vector<Operand> outputs() const;
};

/// Before the names of a follower's inputs.
std::string prefix_of_follower(size_t i);

/// The ops in their order as launches: each has as many followers as may be. Where it has some it runs in the place of
/// the last. `kept`: values that must be stored.
std::vector<Launch> fuse(const std::vector<const Op*>& ops, const std::set<const Value*>& kept);

}  // namespace kernbench::onnx
