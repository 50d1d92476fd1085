#include "kernbench/systemc_models/core/timeline.h"

#include <algorithm>
#include <cmath>

namespace kernbench {

Timeline::Timeline(sc_core::sc_module_name name, uint32_t most_numbers)
    : sc_module(name), wake_("wake"), tick_(sc_core::sc_time::from_value(1)), most_numbers_(most_numbers) {
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

bool Timeline::before(const Key& a, const Key& b) {
  if (a.fs != b.fs) return a.fs < b.fs;
  if (a.major != b.major) return a.major < b.major;
  if (a.minor != b.minor) return a.minor < b.minor;
  return a.sequence < b.sequence;
}

/// Sorted keys are a heap, too.
void Timeline::number_anew() {
  std::sort(heap_.begin(), heap_.end(), before);
  sequence_ = 0;
  for (Key& k : heap_) k.sequence = sequence_++;
}

void Timeline::push(const Key& k) {
  size_t i = heap_.size();
  heap_.push_back(k);
  while (i > 0) {
    const size_t parent = (i - 1) / 4;
    if (!before(k, heap_[parent])) break;
    heap_[i] = heap_[parent];
    i = parent;
  }
  heap_[i] = k;
}

Timeline::Key Timeline::pop() {
  const Key top = heap_.front();
  const Key last = heap_.back();
  heap_.pop_back();
  const size_t n = heap_.size();
  if (n == 0) return top;
  size_t i = 0;
  for (;;) {
    const size_t first = 4 * i + 1;
    if (first >= n) break;
    size_t least = first;
    for (size_t c = first + 1; c < std::min(first + 4, n); ++c) {
      if (before(heap_[c], heap_[least])) least = c;
    }
    if (!before(heap_[least], last)) break;
    heap_[i] = heap_[least];
    i = least;
  }
  heap_[i] = last;
  return top;
}

void Timeline::at(double t_ns, Order order, Handler handler, void* self, void* arg) {
  uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot] = {t_ns, handler, self, arg};
  if (sequence_ >= most_numbers_) number_anew();
  push({to_fs(t_ns), order.major, order.minor, sequence_++, slot});
  if (!working_) arm();
}

void Timeline::arm() {
  if (heap_.empty()) return;
  const uint64_t now = sc_core::sc_time_stamp().value();
  const uint64_t tick = std::max(tick_of(heap_.front().fs), now);
  if (armed_tick_ <= tick) return;
  armed_tick_ = tick;
  wake_.notify(sc_core::sc_time::from_value(tick - now));
}

/// Nothing else in the simulation happens up to the next entry's tick.
bool Timeline::next_is_free() const {
  if (sc_core::sc_pending_activity_at_current_time()) return false;
  if (!sc_core::sc_pending_activity_at_future_time()) return true;
  const uint64_t other = (sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity()).value();
  return tick_of(heap_.front().fs) < other;
}

/// What is left stays on the agenda.
void Timeline::leave() {
  working_ = false;
  reached_end_ = true;
  sc_core::sc_pause();  // unlike sc_stop, says nothing on stdout
}

void Timeline::work() {
  uint64_t now = sc_core::sc_time_stamp().value();
  stamp_ = now;
  armed_tick_ = ~0ull;
  working_ = true;
  while (!heap_.empty()) {
    const uint64_t tick = tick_of(heap_.front().fs);
    if (tick > now) {
      if (!run_ahead_ || !next_is_free()) break;
      now = tick;
    }
    if (heap_.front().fs >= end_fs_.load(std::memory_order_relaxed)) return leave();
    const Key k = pop();
    const Entry e = slots_[k.slot];
    free_slots_.push_back(k.slot);
    now_ns_ = e.t_ns;
    if ((++events_ & 0xffff) == 0 && progress_) progress_(now_ns_, events_);
    e.handler(e.self, e.arg);
  }
  working_ = false;
  arm();
  if (rest_) rest_(rest_self_);
}

}  // namespace kernbench
