// SPDX-License-Identifier: Apache-2.0
// Values that change over time and whose changes are reported in advance.
//
// Reservations are known before they happen, so a change may lie in the future. It is stored until that time. The
// derived class then uses it: for a file, variables of the user, or sums.
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

  /// Sets the value from fs on; times before the last advance() count as that time. Of several changes at one time the
  /// last counts.
  void set(Variable v, uint64_t fs, uint64_t value) { tell({fs, 0, value, v, false}); }
  /// Adds to the value from fs on.
  void change(Variable v, uint64_t fs, int64_t by) { tell({fs, 0, static_cast<uint64_t>(by), v, true}); }
  /// Time has reached fs: earlier changes are shown.
  void advance(uint64_t fs);
  /// Time of the latest reported change.
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
    uint64_t value, next;  ///< shown value; value after the current step
    bool touched = false;
    /// A one-bit signal only distinguishes zero and nonzero.
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
  /// Applies all changes of the next time that has any.
  void work_off();

 private:
  void tell(const Change& c) {
    last_told_fs_ = std::max(last_told_fs_, c.fs);
    push(c);
  }
  /// Shows `next` of the variables that changed at fs and makes it their value.
  virtual void show(uint64_t fs, const std::vector<Variable>& touched) = 0;
  /// Called when the earliest stored change becomes this one.
  virtual void first_is(uint64_t /*fs*/) {}

  std::vector<Signal> signals_;
  std::priority_queue<Change> changes_;
  std::vector<Variable> touched_;
  uint64_t sequence_ = 0, now_fs_ = 0, last_told_fs_ = 0;
};

}  // namespace kernbench::observe
