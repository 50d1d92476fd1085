// SPDX-License-Identifier: Apache-2.0
// What all blocks of one system share: the agenda, memory for their state, and the order in which they were made.
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
  /// Where the blocks and their state are; outlives them.
  Arena& arena() { return arena_; }
  /// Of blocks that are made by hand: each the next number.
  uint32_t next_index() { return next_index_++; }

 private:
  Arena arena_;
  Timeline timeline_;
  uint32_t next_index_ = 0;
};

}  // namespace kernbench::core
