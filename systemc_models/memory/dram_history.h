// SPDX-License-Identifier: Apache-2.0
// How a DRAM's data bus spent each cycle, for what-if predictions: it moved a burst, or waited for a cause. It is kept
// only while an observer is attached. Plain C++ without SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <deque>

#include "kernbench/systemc_models/core/bottleneck.h"
#include "kernbench/systemc_models/memory/dram_timing.h"

namespace kernbench::memory {

/// Use of a cycle. `queue`: no request was there, or none had an entry in a queue. `latency`: from the last column
/// command to its data.
enum class DramTime : uint8_t { bus, rows, banks, refresh, turnaround, queue, latency };
/// The resource that each use counts for.
constexpr std::array<Resource, 7> kDramTimes = {Resource::hbm,     Resource::rows,       Resource::banks,
                                                Resource::refresh, Resource::turnaround, Resource::dram_queue,
                                                Resource::memory};
using DramTimes = std::array<Cycle, kDramTimes.size()>;

class DramHistory {
 public:
  /// Cycles after the last burst's command: the bus is taken, then its data arrive.
  struct Tail {
    Cycle bus = 0, latency = 0;
  };
  DramHistory(Cycle begin, Tail tail) : tail_(tail), threshold_(kLong) {
    spans_.push_back({begin, {}, DramTime::queue});
  }

  /// Adds a span from the end of the last one to `end`, unless `end` is not later.
  void add(Cycle end, DramTime what) {
    const Span& last = spans_.back();
    if (end <= last.end) return;
    const Cycle more = end - last.end;
    if (last.what != what || spans_.size() == 1) spans_.push_back(Span(last));
    Span& s = spans_.back();
    s.until[static_cast<size_t>(what)] += more;
    s.end = end;
    s.what = what;
  }
  Cycle end() const { return spans_.back().end; }
  /// Cycles by use in [from, to), as far as the history is kept.
  DramTimes spent(Cycle from, Cycle to) const {
    DramTimes times = until(to), before = until(from);
    for (size_t i = 0; i < times.size(); ++i) times[i] -= before[i];
    return times;
  }
  bool is_long() const { return spans_.size() > threshold_; }
  void forget_before(Cycle cycle) {
    while (spans_.size() > 1 && spans_[1].end < cycle) spans_.pop_front();
    threshold_ = std::max(kLong, 2 * spans_.size());
  }

 private:
  static constexpr size_t kLong = 256;
  struct Span {
    Cycle end;
    DramTimes until;  ///< sums since the start
    DramTime what;
  };
  DramTimes until(Cycle cycle) const {
    const auto it =
        std::lower_bound(spans_.begin(), spans_.end(), cycle, [](const Span& s, Cycle c) { return s.end < c; });
    if (it != spans_.end()) {
      DramTimes times = it->until;
      if (it != spans_.begin()) times[static_cast<size_t>(it->what)] -= it->end - cycle;
      return times;
    }
    DramTimes times = spans_.back().until;
    Cycle rest = cycle - spans_.back().end;
    const auto take = [&](DramTime what, Cycle most) {
      const Cycle n = std::min(rest, most);
      times[static_cast<size_t>(what)] += n;
      rest -= n;
    };
    take(DramTime::bus, tail_.bus);
    take(DramTime::latency, tail_.latency);
    take(DramTime::queue, rest);
    return times;
  }

  Tail tail_;
  size_t threshold_;
  std::deque<Span> spans_;
};

}  // namespace kernbench::memory
