// SPDX-License-Identifier: Apache-2.0
// The three queues of commands in a PE's scheduler (ADR-0014 D2). Each has one writer.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/ring.h"
#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::pe {

/// Submitted commands before dispatch. pe_cpu writes (at the scheduler's socket), the scheduler removes.
class SubmissionQueue {
 public:
  void submit(PeCommand& c) { commands_.push_back(&c); }
  void take(PeCommand& c) { commands_.erase(std::find(commands_.begin(), commands_.end(), &c)); }
  size_t size() const { return commands_.size(); }

 private:
  std::vector<PeCommand*> commands_;
};

enum class CommandState : uint8_t {
  waits_for_room,  ///< simple: waits for space in its engine's queue
  at_engine,       ///< simple: in its engine's queue or in service
  waits_for_feed,  ///< composite: waits for earlier composites to be fed
  feeds,           ///< composite: the feed loop is feeding its tiles
  fed              ///< composite: all its tiles are in flight
};

/// Dispatched, incomplete commands. Only the scheduler writes; engines notify it by messages.
class InflightTable {
 public:
  struct Entry {
    PeCommand* command = nullptr;
    CommandState state = CommandState::at_engine;
    Stage engine = Stage::dma_read;  ///< simple: its engine; composite: the engine of a tile's first stage
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

/// Complete commands until their submitters are notified. Only the scheduler writes.
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
