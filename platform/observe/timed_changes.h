// SPDX-License-Identifier: Apache-2.0
// Values that change over time, told ahead of time.
//
// Reservations are known before they happen, so a change may lie after the present; it is kept until time has come
// there. What comes of it then is the heir's: a file, variables of the user's, sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::observe {

class TimedChanges {
 public:
  using Variable = uint32_t;

  virtual ~TimedChanges() = default;

  /// The value from fs on; times before that of the last advance() count as that. Of several at one time the last
  /// holds.
  void set(Variable v, uint64_t fs, uint64_t value) { tell({fs, 0, value, v, false}); }
  /// Adds to the value from fs on.
  void change(Variable v, uint64_t fs, int64_t by) { tell({fs, 0, static_cast<uint64_t>(by), v, true}); }
  /// Time has come to fs: what lies before is shown.
  void advance(uint64_t fs);
  /// Of the latest change that was told.
  uint64_t last_told_fs() const { return last_told_fs_; }

 protected:
  struct Change {
    uint64_t fs, sequence, value;
    Variable variable;
    bool add;
    bool operator<(const Change& o) const { return fs != o.fs ? fs > o.fs : sequence > o.sequence; }  // earliest on top
  };
  struct Signal {
    unsigned bits;
    uint64_t value, next;  ///< shown; at the step being worked off
    bool touched = false;
    /// A bit says how many make it 1.
    bool same() const { return bits == 1 ? !next == !value : next == value; }
  };

  Variable add_signal(unsigned bits, uint64_t initial);
  Signal& signal(Variable v) { return signals_[v]; }
  const Signal& signal(Variable v) const { return signals_[v]; }
  size_t signals() const { return signals_.size(); }
  bool idle() const { return changes_.empty(); }
  uint64_t next_fs() const { return changes_.top().fs; }
  uint64_t now_fs() const { return now_fs_; }
  void push(Change);
  /// Works off the changes of the next time at which there are any.
  void work_off();

 private:
  void tell(const Change& c) {
    last_told_fs_ = std::max(last_told_fs_, c.fs);
    push(c);
  }
  /// Shows `next` of the variables that were changed at fs, and makes it their value.
  virtual void show(uint64_t fs, const std::vector<Variable>& touched) = 0;
  /// The first change that is left is now this one.
  virtual void first_is(uint64_t /*fs*/) {}

  std::vector<Signal> signals_;
  std::priority_queue<Change> changes_;
  std::vector<Variable> touched_;
  uint64_t sequence_ = 0, now_fs_ = 0, last_told_fs_ = 0;
};

}  // namespace kernbench::observe
