// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/timed_changes.h"

namespace kernbench::observe {

TimedChanges::Variable TimedChanges::add_signal(unsigned bits, uint64_t initial) {
  signals_.push_back({bits, initial, initial});
  return static_cast<Variable>(signals_.size() - 1);
}

void TimedChanges::push(Change c) {
  c.fs = std::max(c.fs, now_fs_);
  c.sequence = sequence_++;
  const bool first = changes_.empty() || c.fs < changes_.top().fs;
  changes_.push(c);
  if (first) first_is(c.fs);
}

void TimedChanges::work_off() {
  const uint64_t step = changes_.top().fs;
  while (!changes_.empty() && changes_.top().fs == step) {
    const Change c = changes_.top();
    changes_.pop();
    Signal& s = signals_[c.variable];
    s.next = c.add ? s.next + c.value : c.value;
    if (!s.touched) touched_.push_back(c.variable);
    s.touched = true;
  }
  show(step, touched_);
  for (const Variable v : touched_) signals_[v].touched = false;
  touched_.clear();
}

void TimedChanges::advance(uint64_t fs) {
  while (!changes_.empty() && changes_.top().fs < fs) work_off();
  now_fs_ = std::max(now_fs_, fs);
}

}  // namespace kernbench::observe
