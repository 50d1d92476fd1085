// SPDX-License-Identifier: Apache-2.0
// Counters of a trace within a time window. Each counter starts with the value that it had at the window's begin.
#pragma once

#include <map>
#include <variant>

#include "kernbench/platform/observe/time_window.h"
#include "kernbench/platform/observe/trace_writer.h"

namespace kernbench::observe {

class CounterWindow final : public TraceCounters {
 public:
  CounterWindow(TraceCounters& counters, const TimeWindow& window) : counters_(counters), window_(window) {}

  uint64_t add_group(std::string_view name) override { return counters_.add_group(name); }
  Counter add_counter(uint64_t group, std::string_view name, std::string_view unit) override {
    return counters_.add_counter(group, name, unit);
  }
  Counter add_counter_of(uint32_t process, std::string_view name, std::string_view unit) override {
    return counters_.add_counter_of(process, name, unit);
  }
  void count(Counter c, double t, uint64_t value) override { see(c, t, value); }
  void count(Counter c, double t, double value) override { see(c, t, value); }
  /// Ends the input and writes the counters that did not change in the window.
  void finish() {
    while (!before_.empty()) tell_before(before_.begin()->first);
  }

 private:
  using Value = std::variant<uint64_t, double>;
  void see(Counter c, double t, Value value) {
    if (t < window_.from_ns) {
      before_[c] = value;
      return;
    }
    if (t > window_.from_ns) tell_before(c);
    before_.erase(c);
    if (t < window_.to_ns) tell(c, t, value);
  }
  void tell(Counter c, double t, const Value& value) {
    std::visit([&](auto v) { counters_.count(c, t, v); }, value);
  }
  void tell_before(Counter c) {
    const auto at = before_.find(c);
    if (at == before_.end()) return;
    tell(c, window_.from_ns, at->second);
    before_.erase(at);
  }

  TraceCounters& counters_;
  const TimeWindow window_;
  std::map<Counter, Value> before_;  ///< last value before the window, of counters not written yet
};

}  // namespace kernbench::observe
