// SPDX-License-Identifier: Apache-2.0
// Vector clocks of a program's streams, for race detection.
#pragma once

#include <algorithm>
#include <map>

#include "kernbench/phase2/check/races.h"
#include "kernbench/platform/host/streams.h"

namespace kernbench::host {

class StreamClocks {
 public:
  using Clock = CommandHistory::Clock;
  Clock& of(const Stream& s) { return streams_[s]; }
  /// Clock of the program's predecessors.
  const Clock& program() const { return program_; }

  static void merge(const Clock& from, Clock& into) {
    for (const auto& [pe, events] : from) {
      uint64_t& known = into[pe];
      known = std::max(known, events);
    }
  }
  /// Adds the operation to all its streams.
  void join(const Operation& op) {
    if (op.streams.size() == 1) return;
    Clock all;
    for (const Stream& s : op.streams) merge(streams_[s], all);
    for (const Stream& s : op.streams) streams_[s] = all;
  }
  /// The program has waited for an event, a stream or all streams.
  void program_waited(const Clock& event) { merge(event, program_); }
  void program_waited(const Stream& s) { merge(streams_[s], program_); }
  void program_waited() {
    for (const auto& [stream, clock] : streams_) merge(clock, program_);
  }

 private:
  std::map<Stream, Clock> streams_;
  Clock program_;
};

}  // namespace kernbench::host
