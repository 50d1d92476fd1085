// SPDX-License-Identifier: Apache-2.0
// Fuses nodes into one launch. Elementwise ops run in the tiles of the op before them, so the value between them is
// neither stored nor loaded.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

struct Linear;

/// A node's kernel and the followers that run in its tiles.
struct Launch {
  const Op* op = nullptr;
  /// In order. Each has an `each` row and reads a value of the op or of an earlier follower.
  std::vector<const Op*> followers;
  /// Set if a kernel of models runs it, including the followers (linear.h); null: the op's own kernel runs.
  std::shared_ptr<const Linear> linear;

  const Op& last() const { return followers.empty() ? *op : *followers.back(); }
  /// A tensor of the launch with the name that its kernel uses (Pe).
  struct Operand {
    std::string name;
    const Value* value;
  };
  /// Inputs with elements: all of the op's, and those of followers that are made outside the launch.
  std::vector<Operand> inputs() const;
  /// Outputs with elements: those of the last follower, or of the op if it has none.
  std::vector<Operand> outputs() const;
};

/// Prefix of the names of a follower's inputs.
std::string prefix_of_follower(size_t i);

/// Groups ops, given in order, into launches with as many followers as possible. A launch with followers runs at the
/// position of the last one. `kept`: values that must be stored.
std::vector<Launch> fuse(const std::vector<const Op*>& ops, const std::set<const Value*>& kept);

}  // namespace kernbench::onnx
