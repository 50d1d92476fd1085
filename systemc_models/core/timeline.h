// SPDX-License-Identifier: Apache-2.0
// The event list of a platform: it schedules everything that happens at a time.
//
// The SystemC kernel promises no order among events of one instant, and equal hop delays make ties common. So blocks do
// not notify events. They put entries on this list, ordered by (time in fs, Order, sequence of entry), and one
// SC_METHOD processes the entries. This gives the order that the timing rules (§9) require, and costs a heap operation
// instead of a process activation, and one timed notification for each distinct instant. Times are exact doubles in ns.
// They are rounded to fs for comparison, and to the kernel's tick for wake-ups only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <systemc>
#include <type_traits>
#include <vector>

#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/systemc_models/core/ring.h"
#include "kernbench/systemc_models/core/timed_call.h"

namespace kernbench::core {

class Timeline : public sc_core::sc_module {
 public:
  /// Entry numbers go up to `most_numbers`, then restart. Values below 2³² are for tests.
  explicit Timeline(sc_core::sc_module_name name, uint32_t most_numbers = ~0u);

  /// Makes the call at t_ns (not before now) in the given order. TimeBeyondRange for a value that is not a time.
  void at(double t_ns, Order order, const TimedCall& call);

  /// Exact time of the current entry; outside of entries, the later one of the last entry's time and the kernel's time.
  /// ns.
  double now_ns() const { return working_ ? now_ns_ : now_outside(); }
  /// sc_time_stamp() in ticks.
  uint64_t stamp() const { return working_ ? stamp_ : sc_core::sc_time_stamp().value(); }
  /// The tick of now_ns().
  uint64_t tick_now() const { return tick_of(to_fs(now_ns())); }
  /// Length of a number of kernel ticks, ns.
  double ns_of(uint64_t ticks) const { return static_cast<double>(ticks) * static_cast<double>(tick_fs_) / 1e6; }
  /// Kernel ticks from sc_time_stamp() to t_ns, as a delay for a TLM call (0 if t_ns is past).
  sc_core::sc_time delay_until(double t_ns) const {
    const uint64_t tick = tick_of(to_fs(t_ns)), now = stamp();
    return tick > now ? ticks(tick - now) : sc_core::SC_ZERO_TIME;
  }
  /// The exact time that a TLM call's delay represents, ns.
  double after(const sc_core::sc_time& delay) const {
    return delay == sc_core::SC_ZERO_TIME ? now_ns() : (sc_core::sc_time_stamp() + delay).to_seconds() * 1e9;
  }
  /// True while an entry is processed.
  bool working() const { return working_; }
  /// Number of processed entries.
  uint64_t events() const { return events_; }
  bool idle() const { return waiting_ == 0; }
  /// Number of pending entries.
  size_t entries() const { return waiting_; }
  /// Processes consecutive instants without returning to the kernel, while no other process or event of the simulation
  /// is due before the next one. sc_time_stamp() does not advance meanwhile. For runs to completion (sc_start() without
  /// a limit) whose processes do not read the kernel's time.
  void run_ahead() { run_ahead_ = true; }
  /// The simulation pauses before the first entry after that time.
  void limit(double t_ns) { end_fs_.store(to_fs(t_ns) + 1, std::memory_order_relaxed); }
  /// The simulation pauses before the next entry; `reason` is the caller's. Safe in a signal handler during the
  /// timeline's lifetime.
  void stop(int reason) {
    stop_reason_.store(reason, std::memory_order_relaxed);
    end_fs_.store(0, std::memory_order_relaxed);
  }
  /// Whether limit() or stop() prevents an entry at that time.
  bool ends_before(double t_ns) const { return to_fs(t_ns) >= end_fs_.load(std::memory_order_relaxed); }
  /// Effect of limit() or stop().
  enum class Ended { no, at_limit, stopped };
  Ended ended() const {
    if (stop_reason_.load(std::memory_order_relaxed) != 0) return Ended::stopped;
    return reached_end_ ? Ended::at_limit : Ended::no;
  }
  /// Time of the last processed entry.
  double last_ns() const { return now_ns_; }
  int stop_reason() const { return stop_reason_.load(std::memory_order_relaxed); }
  /// Callback when all entries of an instant are done and control returns to the kernel; {}: none.
  void on_rest(const TimedCall& call) { rest_ = call; }
  /// Callback every 65,536 entries with the time and the number of entries so far, for progress displays.
  void on_progress(std::function<void(double now_ns, uint64_t events)> call) { progress_ = std::move(call); }

  static uint64_t to_fs(double ns) { return femtoseconds(ns); }

 private:
  struct alignas(64) Entry {
    uint64_t fs = 0;
    Order order;
    uint32_t sequence = 0;  // of entry; restarts when exhausted
    double t_ns = 0;
    TimedCall call;
    bool operator<(const Entry& o) const {
      if (fs != o.fs) return fs < o.fs;
      if (order.major != o.order.major) return order.major < o.order.major;
      if (order.minor != o.order.minor) return order.minor < o.order.minor;
      return sequence < o.sequence;
    }
  };
  /// Entries sorted by their order. Entries with a fixed delay arrive in this order automatically.
  using Lane = Ring<Entry, 2>;
  static constexpr int kLanes = 8, kHeap = kLanes;
  void push(const Entry&);
  Entry pop(int from);
  int first() const;
  const Entry& front(int of) const { return of == kHeap ? heap_.front() : lanes_[of].front(); }
  void number_anew();
  uint64_t tick_of(uint64_t fs) const {
    return tick_fs_ == 1 ? fs : fs / tick_fs_ + (fs % tick_fs_ >= tick_fs_ - tick_fs_ / 2);
  }
  /// Avoids from_value(), which is neither inline nor short, at every hop: a time is its only member, the number of
  /// ticks.
  static sc_core::sc_time ticks(uint64_t n) {
    using Time = sc_core::sc_time;
    static_assert(std::is_standard_layout_v<Time> && sizeof(Time) == sizeof(Time::value_type));
    Time t;
    *reinterpret_cast<Time::value_type*>(&t) = n;
    return t;
  }
  double now_outside() const;
  bool next_is_free(uint64_t tick) const;
  void arm();
  void leave();
  void work();

  Lane lanes_[kLanes];
  std::vector<Entry> heap_;  // entries that fit no lane
  int lanes_used_ = 0;       // the others are empty
  size_t waiting_ = 0;
  sc_core::sc_event wake_;
  uint64_t tick_fs_ = 1;  // fs in a tick of the kernel's resolution
  uint64_t armed_tick_ = ~0ull;
  uint64_t stamp_ = 0;  // of the kernel, while entries are processed
  const uint32_t most_numbers_;
  uint32_t sequence_ = 0;
  uint64_t events_ = 0;
  double now_ns_ = 0;
  bool working_ = false;
  bool run_ahead_ = false;
  std::atomic<uint64_t> end_fs_{~uint64_t{0}};  // entries from here on are not processed
  std::atomic<int> stop_reason_{0};
  bool reached_end_ = false;
  TimedCall rest_;
  std::function<void(double, uint64_t)> progress_;
};

}  // namespace kernbench::core
