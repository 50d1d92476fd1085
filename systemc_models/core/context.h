// SPDX-License-Identifier: Apache-2.0
// Data shared by all blocks of a system: the timeline, memory for their state, and the order of their creation.
#pragma once

#include "kernbench/systemc_models/core/arena.h"
#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::core {

class Context {
 public:
  Context() : timeline_("timeline") {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  virtual ~Context() = default;

  Timeline& timeline() { return timeline_; }
  const Timeline& timeline() const { return timeline_; }
  /// Memory of the blocks and of their state; outlives them.
  Arena& arena() { return arena_; }
  /// The next number for a block that is made by hand.
  uint32_t next_index() { return next_index_++; }

 private:
  Arena arena_;
  Timeline timeline_;
  uint32_t next_index_ = 0;
};

}  // namespace kernbench::core
