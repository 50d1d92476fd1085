// SPDX-License-Identifier: Apache-2.0
// The three parts in which a PE's scheduler keeps its commands (ADR-0014 D2). Each has one writer.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/ring.h"
#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::pe {

/// Commands that have been submitted and not dispatched. pe_cpu writes (at the scheduler's socket), the scheduler
/// takes.
class SubmissionQueue {
 public:
  void submit(PeCommand& c) { commands_.push_back(&c); }
  void take(PeCommand& c) { commands_.erase(std::find(commands_.begin(), commands_.end(), &c)); }
  size_t size() const { return commands_.size(); }

 private:
  std::vector<PeCommand*> commands_;
};

enum class CommandState : uint8_t {
  waits_for_room,  ///< simple: before its engine's queue
  at_engine,       ///< simple: in its engine's queue or in service
  waits_for_feed,  ///< composite: behind those that are fed before it
  feeds,           ///< composite: the one whose tiles the feed loop feeds
  fed              ///< composite: all its tiles are on their way
};

/// Commands that have been dispatched and are not complete. Only the scheduler writes; engines tell it by messages.
class InflightTable {
 public:
  struct Entry {
    PeCommand* command = nullptr;
    CommandState state = CommandState::at_engine;
    Stage engine = Stage::dma_read;  ///< simple: whose; composite: of a tile's first stage
  };
  void add(PeCommand& c, CommandState state, Stage engine) {
    c.in_flight_at = entries_.size();
    entries_.push_back({&c, state, engine});
  }
  void set(const PeCommand& c, CommandState state) { entries_[c.in_flight_at].state = state; }
  void remove(const PeCommand& c) {
    const size_t at = c.in_flight_at;
    entries_[at] = entries_.back();
    entries_[at].command->in_flight_at = at;
    entries_.pop_back();
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// Commands that are complete, until who submitted them has been told. Only the scheduler writes.
class CompletionQueue {
 public:
  void publish(PeCommand& c) { records_.push_back(&c); }
  bool empty() const { return records_.empty(); }
  PeCommand& take() {
    PeCommand& c = *records_.front();
    records_.pop_front();
    return c;
  }

 private:
  Ring<PeCommand*, 2> records_;
};

}  // namespace kernbench::pe
