// The agenda of a platform: everything that happens at a time happens through it.
//
// The SystemC kernel promises no order among things of one instant, and equal hop delays make ties the rule. So the
// blocks do not notify events of their own: they put entries on this agenda, ordered by (time in fs, Order, sequence
// of entry), and one SC_METHOD works them off. That gives the order that the timing contract (§9) asks for, costs a
// heap operation instead of a process activation, and one timed notification per distinct instant.
// Times are exact doubles in ns; they are rounded to fs for comparison and to the kernel's tick only to wake up.
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

namespace kernbench {

class Timeline : public sc_core::sc_module {
 public:
  /// Entries are numbered up to `most_numbers`, then anew: fewer than 2³² only to test that.
  explicit Timeline(sc_core::sc_module_name name, uint32_t most_numbers = ~0u);

  /// Makes the call at t_ns (not before now) in the given order. TimeBeyondRange for what is no time.
  void at(double t_ns, Order order, const TimedCall& call);

  /// Exact time of the entry being worked off; outside of entries, that of the last one or of the kernel, whichever is
  /// later. ns.
  double now_ns() const { return working_ ? now_ns_ : now_outside(); }
  /// sc_time_stamp() in ticks.
  uint64_t stamp() const { return working_ ? stamp_ : sc_core::sc_time_stamp().value(); }
  /// The tick of now_ns().
  uint64_t tick_now() const { return tick_of(to_fs(now_ns())); }
  /// How long ticks of the kernel are, ns.
  double ns_of(uint64_t ticks) const { return static_cast<double>(ticks) * static_cast<double>(tick_fs_) / 1e6; }
  /// Kernel ticks from sc_time_stamp() to t_ns, as a delay for a TLM call (0 if t_ns is past).
  sc_core::sc_time delay_until(double t_ns) const {
    const uint64_t tick = tick_of(to_fs(t_ns)), now = stamp();
    return tick > now ? ticks(tick - now) : sc_core::SC_ZERO_TIME;
  }
  /// The exact time that a TLM call's delay means, ns.
  double after(const sc_core::sc_time& delay) const {
    return delay == sc_core::SC_ZERO_TIME ? now_ns() : (sc_core::sc_time_stamp() + delay).to_seconds() * 1e9;
  }
  /// True while an entry is worked off.
  bool working() const { return working_; }
  /// Entries worked off so far.
  uint64_t events() const { return events_; }
  bool idle() const { return waiting_ == 0; }
  /// Entries that are to come.
  size_t entries() const { return waiting_; }
  /// Works off instants one after the other without returning to the kernel in between, as long as no other process or
  /// event of the simulation is due before the next. sc_time_stamp() then stands still at the first. For runs that go
  /// to their end (sc_start() without a limit) and whose processes do not ask the kernel for the time.
  void run_ahead() { run_ahead_ = true; }
  /// The simulation pauses before the first entry later than that.
  void limit(double t_ns) { end_fs_.store(to_fs(t_ns) + 1, std::memory_order_relaxed); }
  /// It pauses before the next entry; `reason` is the caller's. Safe in a signal handler, while the timeline lives.
  void stop(int reason) {
    stop_reason_.store(reason, std::memory_order_relaxed);
    end_fs_.store(0, std::memory_order_relaxed);
  }
  /// Whether an entry at that time would be left.
  bool ends_before(double t_ns) const { return to_fs(t_ns) >= end_fs_.load(std::memory_order_relaxed); }
  /// What limit() or stop() has come to.
  enum class Ended { no, at_limit, stopped };
  Ended ended() const {
    if (stop_reason_.load(std::memory_order_relaxed) != 0) return Ended::stopped;
    return reached_end_ ? Ended::at_limit : Ended::no;
  }
  /// Of the entry that was worked off last.
  double last_ns() const { return now_ns_; }
  int stop_reason() const { return stop_reason_.load(std::memory_order_relaxed); }
  /// What is called whenever all entries of an instant are done and control goes back to the kernel; {}: nothing.
  void on_rest(const TimedCall& call) { rest_ = call; }
  /// Called every 65,536 entries with the time and the number of entries so far; for a progress line.
  void on_progress(std::function<void(double now_ns, uint64_t events)> call) { progress_ = std::move(call); }

  static uint64_t to_fs(double ns) { return femtoseconds(ns); }

 private:
  struct alignas(64) Entry {
    uint64_t fs = 0;
    Order order;
    uint32_t sequence = 0;  // of entry; begun anew when used up
    double t_ns = 0;
    TimedCall call;
    bool operator<(const Entry& o) const {
      if (fs != o.fs) return fs < o.fs;
      if (order.major != o.order.major) return order.major < o.order.major;
      if (order.minor != o.order.minor) return order.minor < o.order.minor;
      return sequence < o.sequence;
    }
  };
  /// Entries in the order of their turns. Those that are made a fixed time ahead come in that order by themselves.
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
  /// from_value(), which is neither inline nor short, at every hop: a time is its one member, the number of ticks.
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
  std::vector<Entry> heap_;  // what fits no lane
  int lanes_used_ = 0;       // those behind are empty
  size_t waiting_ = 0;
  sc_core::sc_event wake_;
  uint64_t tick_fs_ = 1;  // fs in a tick of the kernel's resolution
  uint64_t armed_tick_ = ~0ull;
  uint64_t stamp_ = 0;  // the kernel's, while entries are worked off
  const uint32_t most_numbers_;
  uint32_t sequence_ = 0;
  uint64_t events_ = 0;
  double now_ns_ = 0;
  bool working_ = false;
  bool run_ahead_ = false;
  std::atomic<uint64_t> end_fs_{~uint64_t{0}};  // entries from here on are left
  std::atomic<int> stop_reason_{0};
  bool reached_end_ = false;
  TimedCall rest_;
  std::function<void(double, uint64_t)> progress_;
};

}  // namespace kernbench
