// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/core/timeline.h"

#include <algorithm>
#include <cmath>

namespace kernbench::core {
namespace {

constexpr auto later = [](const auto& a, const auto& b) { return b < a; };

}  // namespace

Timeline::Timeline(sc_core::sc_module_name name, uint32_t most_numbers)
    : sc_module(name), wake_("wake"), most_numbers_(most_numbers) {
  sc_core::sc_time::from_value(1);  // fixes the resolution from here on
  tick_fs_ =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(sc_core::sc_get_time_resolution().to_seconds() * 1e15)));
  SC_HAS_PROCESS(Timeline);
  SC_METHOD(work);
  sensitive << wake_;
  dont_initialize();
}

double Timeline::now_outside() const {
  const uint64_t tick = sc_core::sc_time_stamp().value();
  return tick_of(to_fs(now_ns_)) >= tick ? now_ns_ : static_cast<double>(tick) * static_cast<double>(tick_fs_) * 1e-6;
}

void Timeline::number_anew() {
  std::vector<Entry> all;  // in order
  while (waiting_ > 0) all.push_back(pop(first()));
  sequence_ = 0;
  for (Entry& e : all) {
    e.sequence = sequence_++;
    push(e);
  }
}

// push(), first() and pop() are always inlined: every event uses them, and a call would copy an entry once more.

/// Appends to the lane with the latest last entry that is earlier than this one; else to an empty lane; else to the
/// heap. Lanes in use are sorted by their last entries, latest first. The order is preserved, because all lanes before
/// the chosen one end later.
[[gnu::always_inline]] inline void Timeline::push(const Entry& e) {
  ++waiting_;
  int lane = 0;
  while (lane < lanes_used_ && e < lanes_[lane].back()) ++lane;
  if (lane < kLanes) {
    lanes_used_ = std::max(lanes_used_, lane + 1);
    return lanes_[lane].push_back(e);
  }
  heap_.push_back(e);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

/// The lane or heap with the next entry.
[[gnu::always_inline]] inline int Timeline::first() const {
  int from = kHeap;
  const Entry* least = heap_.empty() ? nullptr : &heap_.front();
  for (int i = 0; i < lanes_used_; ++i) {
    const Entry& next = lanes_[i].front();
    if (least && !(next < *least)) continue;
    least = &next;
    from = i;
  }
  return from;
}

[[gnu::always_inline]] inline Timeline::Entry Timeline::pop(int from) {
  --waiting_;
  const Entry e = front(from);
  if (from == kHeap) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  } else {
    lanes_[from].pop_front();
    if (lanes_[from].empty()) --lanes_used_;  // it was the last one, because all others end later
  }
  return e;
}

void Timeline::at(double t_ns, Order order, const TimedCall& call) {
  if (sequence_ >= most_numbers_) number_anew();
  push({to_fs(t_ns), order, sequence_++, t_ns, call});
  if (!working_) arm();
}

void Timeline::arm() {
  if (waiting_ == 0) return;
  const uint64_t now = sc_core::sc_time_stamp().value();
  const uint64_t tick = std::max(tick_of(front(first()).fs), now);
  if (armed_tick_ <= tick) return;
  armed_tick_ = tick;
  wake_.notify(sc_core::sc_time::from_value(tick - now));
}

/// Whether no other event of the simulation is due up to the next entry's tick.
bool Timeline::next_is_free(uint64_t tick) const {
  if (sc_core::sc_pending_activity_at_current_time()) return false;
  if (!sc_core::sc_pending_activity_at_future_time()) return true;
  const uint64_t other = (sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity()).value();
  return tick < other;
}

/// Remaining entries stay on the timeline.
void Timeline::leave() {
  working_ = false;
  reached_end_ = true;
  sc_core::sc_pause();  // unlike sc_stop, it prints nothing on stdout
}

void Timeline::work() {
  uint64_t now = sc_core::sc_time_stamp().value();
  stamp_ = now;
  armed_tick_ = ~0ull;
  working_ = true;
  while (waiting_ > 0) {
    const int from = first();
    const uint64_t fs = front(from).fs, tick = tick_of(fs);
    if (tick > now) {
      if (!run_ahead_ || !next_is_free(tick)) break;
      now = tick;
    }
    if (fs >= end_fs_.load(std::memory_order_relaxed)) return leave();
    const Entry e = pop(from);
    now_ns_ = e.t_ns;
    if ((++events_ & 0xffff) == 0 && progress_) progress_(now_ns_, events_);
    e.call();
  }
  working_ = false;
  arm();
  if (rest_) rest_();
}

}  // namespace kernbench::core
